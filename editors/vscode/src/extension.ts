// Starts the language server once an open Python document mentions Pallas, and restarts it when it is to run elsewhere.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import * as vscode from "vscode";
import { LanguageClient, TransportKind } from "vscode-languageclient/node";
import { type Interpreter, SECTION, findInterpreter, watchInterpreter } from "./interpreter";

let server: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  server = new Server(context);
  context.subscriptions.push(
    server,
    vscode.commands.registerCommand(`${SECTION}.restart`, () => server?.restart()),
    vscode.commands.registerCommand(`${SECTION}.showLogs`, () => server?.log.show()),
    vscode.workspace.onDidOpenTextDocument((document) => server?.startFor(document)),
    vscode.workspace.onDidChangeTextDocument((event) => server?.startFor(event.document, event.contentChanges)),
  );
  vscode.workspace.textDocuments.forEach((document) => server?.startFor(document));
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}

class Server implements vscode.Disposable {
  readonly log = vscode.window.createOutputChannel("Pallas", { log: true });
  private client: LanguageClient | undefined;
  private wanted = false;
  private readonly files = ["**/*.py", "**/pyproject.toml"].map((pattern) => vscode.workspace.createFileSystemWatcher(pattern));
  private watching: vscode.Disposable | undefined;
  /** Starts and stops happen one after the other. */
  private work: Promise<void> = Promise.resolve();

  constructor(private readonly context: vscode.ExtensionContext) {}

  /** Start when `document` mentions Pallas; of an edited document only the lines that `changes` touch are read. */
  startFor(document: vscode.TextDocument, changes?: readonly vscode.TextDocumentContentChangeEvent[]): void {
    if (this.wanted || document.languageId !== "python") {
      return;
    }
    const texts = changes?.flatMap((change) => [change.text, document.lineAt(change.range.start.line).text]) ?? [document.getText()];
    if (texts.some((text) => text.includes("pallas"))) {
      void this.restart();
    }
  }

  /** Stop the server if it runs, and start it with the interpreter that is chosen now. */
  restart(): Promise<void> {
    this.wanted = true;
    return this.after(async () => {
      await this.stopClient();
      this.watching ??= await watchInterpreter(() => void this.restart());
      await this.start(await findInterpreter());
    });
  }

  stop(): Promise<void> {
    return this.after(() => this.stopClient());
  }

  dispose(): void {
    this.watching?.dispose();
    this.files.forEach((watcher) => watcher.dispose());
    this.log.dispose();
  }

  private after(step: () => Promise<void>): Promise<void> {
    this.work = this.work.then(step).catch((error: unknown) => this.log.error(String(error)));
    return this.work;
  }

  private async stopClient(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    await client?.dispose();
  }

  private async start(interpreter: Interpreter): Promise<void> {
    const python = interpreter.command;
    // Not the workspace's folder: Python would import modules from there.
    const cwd = this.context.extensionPath;
    const problem = await whyNot(python, cwd);
    if (problem) {
      this.log.error(problem);
      void this.complain(python);
      return;
    }
    this.log.info(`starting ${python} -m pallas_lsp server`);
    const client = new LanguageClient(
      SECTION,
      "Pallas",
      { command: python, args: ["-m", "pallas_lsp", "server"], transport: TransportKind.stdio, options: { cwd } },
      {
        documentSelector: ["file", "untitled"].map((scheme) => ({ language: "python", scheme })),
        outputChannel: this.log,
        synchronize: { configurationSection: SECTION, fileEvents: this.files },
        middleware: {
          workspace: {
            // The server reads the packages installed beside the interpreter that was chosen, wherever; else it looks for a .venv.
            configuration: async (params, token, next) => {
              const sections = await next(params, token);
              const found = interpreter.chosen ? python : "";
              return Array.isArray(sections) ? sections.map((section: object) => ({ ...section, interpreter: found })) : sections;
            },
          },
        },
      },
    );
    this.client = client;
    await client.start();
  }

  private async complain(python: string): Promise<void> {
    const [choose, logs] = ["Choose Interpreter", "Show Logs"];
    const answer = await vscode.window.showErrorMessage(
      `Pallas: ${python} cannot start the server. Install it there with "${python} -m pip install pallas-lsp", or choose another Python.`,
      choose,
      logs,
    );
    if (answer === choose) {
      await vscode.commands.executeCommand("workbench.action.openSettings", `${SECTION}.interpreter`);
    } else if (answer === logs) {
      this.log.show();
    }
  }
}

/** What keeps `python` from running the server, undefined when nothing does. */
async function whyNot(python: string, cwd: string): Promise<string | undefined> {
  try {
    await promisify(execFile)(python, ["-m", "pallas_lsp", "--version"], { cwd, timeout: 20_000 });
    return undefined;
  } catch (error) {
    return String(error);
  }
}
