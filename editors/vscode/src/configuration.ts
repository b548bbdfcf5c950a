// The settings of the extension itself, and which Python's packages a folder uses. All other settings are the server's.
import * as path from "node:path";
import * as vscode from "vscode";

export const SECTION = "pallas-lsp";

/** The settings that decide which server runs, if any: where one of them changes, it is chosen anew. */
const CHOOSES_SERVER = ["enable", "importStrategy", "interpreter"].map((name) => `${SECTION}.${name}`);

/** The part of the Python extension's API that is used here. */
interface PythonApi {
  readonly ready: Promise<void>;
  readonly environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { readonly path: string };
    resolveEnvironment(environment: { readonly path: string }): Promise<{ readonly executable: { readonly uri?: vscode.Uri } } | undefined>;
    readonly onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
  };
}

export function isEnabled(): boolean {
  return vscode.workspace.getConfiguration(SECTION).get("enable", true);
}

/** Whether a server that is installed in the environment goes before the bundled one; in a workspace that is not trusted none does. */
export function prefersEnvironment(): boolean {
  return vscode.workspace.isTrusted && vscode.workspace.getConfiguration(SECTION).get("importStrategy") === "fromEnvironment";
}

/** The Python that was chosen for the file or folder `resource`, by the setting or in the Python extension; "" where none was. */
export async function interpreterOf(resource: vscode.Uri | undefined): Promise<string> {
  const folder = (resource && vscode.workspace.getWorkspaceFolder(resource)) ?? vscode.workspace.workspaceFolders?.[0];
  const setting = vscode.workspace.getConfiguration(SECTION, folder?.uri).get("interpreter", "");
  if (setting) {
    return located(setting, folder?.uri.fsPath);
  }
  const api = vscode.workspace.isTrusted ? await pythonApi() : undefined;
  const environment = await api?.environments.resolveEnvironment(api.environments.getActiveEnvironmentPath(folder?.uri));
  return environment?.executable.uri?.fsPath ?? "";
}

/** Whether the program `command` lies in a folder that is open, where whoever wrote the folder could have put it. */
export function isOfWorkspace(command: string): boolean {
  return path.isAbsolute(command) && vscode.workspace.getWorkspaceFolder(vscode.Uri.file(command)) !== undefined;
}

/** Calls `choose` whenever another server may have to run, or other packages may have to be read; `tell` when other settings changed. */
export async function watchChoices(choose: () => void, tell: () => void): Promise<vscode.Disposable> {
  const disposables = [
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (CHOOSES_SERVER.some((setting) => event.affectsConfiguration(setting))) {
        choose();
      } else if (event.affectsConfiguration(SECTION)) {
        tell();
      }
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(choose),
  ];
  const api = await pythonApi();
  if (api) {
    disposables.push(api.environments.onDidChangeActiveEnvironmentPath(choose));
  }
  return vscode.Disposable.from(...disposables);
}

async function pythonApi(): Promise<PythonApi | undefined> {
  const extension = vscode.extensions.getExtension<PythonApi>("ms-python.python");
  const api = await extension?.activate();
  await api?.ready;
  return api?.environments ? api : undefined;
}

/** `~` and `${workspaceFolder}` replaced, and a relative path taken from `folder`; a bare command is found on PATH. */
function located(interpreter: string, folder: string | undefined): string {
  const home = process.env["HOME"] ?? process.env["USERPROFILE"] ?? "~";
  const filled = interpreter.replace(/^~(?=$|[\\/])/, home).replaceAll("${workspaceFolder}", folder ?? "");
  const isCommand = !/[\\/]/.test(filled);
  return isCommand || path.isAbsolute(filled) || !folder ? filled : path.join(folder, filled);
}
