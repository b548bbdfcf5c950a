// Which Python starts the server: the setting, else the Python extension's choice, else python3.
import * as path from "node:path";
import * as vscode from "vscode";

export const SECTION = "pallas-lsp";

/** The part of the Python extension's API that is used here. */
interface PythonApi {
  readonly ready: Promise<void>;
  readonly environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { readonly path: string };
    resolveEnvironment(environment: { readonly path: string }): Promise<{ readonly executable: { readonly uri?: vscode.Uri } } | undefined>;
    readonly onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
  };
}

/** The command that runs Python, and whether somebody chose it: then its packages are the project's too. */
export interface Interpreter {
  readonly command: string;
  readonly chosen: boolean;
}

/** The interpreter to use now. What the workspace names is obeyed only where the user trusts it. */
export async function findInterpreter(): Promise<Interpreter> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const chosen = vscode.workspace.getConfiguration(SECTION, folder).get<string>("interpreter");
  if (chosen) {
    return { command: located(chosen, folder?.fsPath), chosen: true };
  }
  const api = vscode.workspace.isTrusted ? await pythonApi() : undefined;
  if (api) {
    const environment = await api.environments.resolveEnvironment(api.environments.getActiveEnvironmentPath(folder));
    const executable = environment?.executable.uri?.fsPath;
    if (executable) {
      return { command: executable, chosen: true };
    }
  }
  return { command: process.platform === "win32" ? "python" : "python3", chosen: false };
}

/** Calls `changed` whenever another interpreter may have been chosen. */
export async function watchInterpreter(changed: () => void): Promise<vscode.Disposable> {
  const api = await pythonApi();
  const disposables = [
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration(`${SECTION}.interpreter`)) {
        changed();
      }
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(changed),
  ];
  if (api) {
    disposables.push(api.environments.onDidChangeActiveEnvironmentPath(changed));
  }
  return vscode.Disposable.from(...disposables);
}

async function pythonApi(): Promise<PythonApi | undefined> {
  const extension = vscode.extensions.getExtension<PythonApi>("ms-python.python");
  const api = await extension?.activate();
  await api?.ready;
  return api?.environments ? api : undefined;
}

/** A path in the workspace folder, `~` and `${workspaceFolder}` replaced; a bare command is found on PATH. */
function located(interpreter: string, folder: string | undefined): string {
  const home = process.env["HOME"] ?? process.env["USERPROFILE"] ?? "~";
  const filled = interpreter.replace(/^~(?=$|[\\/])/, home).replaceAll("${workspaceFolder}", folder ?? "");
  const isCommand = !/[\\/]/.test(filled);
  return isCommand || path.isAbsolute(filled) || !folder ? filled : path.join(folder, filled);
}
