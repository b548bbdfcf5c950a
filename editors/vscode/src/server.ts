// Starts the server once an open Python document mentions Pallas, and again when another one is to run.
import * as vscode from "vscode";
import { DidChangeConfigurationNotification, ExecuteCommandRequest, LanguageClient, State, TransportKind } from "vscode-languageclient/node";
import { SECTION, interpreterOf, isEnabled, watchChoices } from "./configuration";
import { showPage, withLinks } from "./pages";
import { type Found, type NoPython, findServer } from "./python";
import { Status } from "./status";

export class Server implements vscode.Disposable {
  readonly log = vscode.window.createOutputChannel("Pallas", { log: true });
  private readonly status = new Status();
  private client: LanguageClient | undefined;
  private running: Found | undefined;
  private wanted = false;
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

  /** Stop the server if it runs, and start the one that is to run now. */
  restart(): Promise<void> {
    this.wanted = true;
    return this.after(async () => {
      this.watching ??= await watchChoices(() => void this.choose(), () => void this.after(() => this.tellSettings()));
      await this.stopClient();
      await this.startChosen(isEnabled() ? await findServer(this.context.extensionPath) : undefined);
    });
  }

  stop(): Promise<void> {
    return this.after(() => this.stopClient());
  }

  dispose(): void {
    this.watching?.dispose();
    this.status.dispose();
    this.log.dispose();
  }

  /** The server's answer to one of its own commands; undefined where no server runs. */
  async execute(command: string, ...args: unknown[]): Promise<unknown> {
    await this.work;
    return this.client?.sendRequest(ExecuteCommandRequest.type, { command, arguments: args });
  }

  /** Another server may have to run, or other packages may have to be read. */
  private choose(): Promise<void> {
    return this.after(async () => {
      const found = isEnabled() ? await findServer(this.context.extensionPath) : undefined;
      if (this.client?.isRunning() && JSON.stringify(found) === JSON.stringify(this.running)) {
        await this.tellSettings();
      } else {
        await this.stopClient();
        await this.startChosen(found);
      }
    });
  }

  /** Let the server ask for its settings again. */
  private async tellSettings(): Promise<void> {
    if (this.client?.isRunning()) {
      await this.client.sendNotification(DidChangeConfigurationNotification.type, { settings: null });
    }
  }

  private after(step: () => Promise<void>): Promise<void> {
    this.work = this.work.then(step).catch((error: unknown) => {
      this.log.error(String(error));
      this.status.failed("The server does not run");
    });
    return this.work;
  }

  private async stopClient(): Promise<void> {
    const client = this.client;
    this.client = this.running = undefined;
    await client?.dispose();
  }

  private async startChosen(found: Found | NoPython | undefined): Promise<void> {
    if (!found) {
      this.status.off();
    } else if (!("command" in found)) {
      this.log.error(`no Python can run the server: ${found.tried.join("; ")}`);
      this.status.failed("No Python 3.11 or newer was found");
      void this.askForPython();
    } else {
      await this.start(found);
    }
  }

  private async start(found: Found): Promise<void> {
    this.log.info(`starting the server: ${[found.command, ...found.args].join(" ")}`);
    found.tried.forEach((why) => this.log.info(`not with ${why}`));
    // Not the workspace's folder: Python would import modules from there.
    const options = { cwd: this.context.extensionPath };
    const client = new LanguageClient(
      SECTION,
      "Pallas",
      { command: found.command, args: found.args, transport: TransportKind.stdio, options },
      {
        documentSelector: ["file", "untitled"].map((scheme) => ({ language: "python", scheme })),
        outputChannel: this.log,
        middleware: {
          handleDiagnostics: (uri, diagnostics, next) => next(uri, withLinks(diagnostics)),
          provideDiagnostics: async (document, previous, token, next) => {
            const report = await next(document, previous, token);
            return report && "items" in report ? { ...report, items: withLinks(report.items) } : report;
          },
          workspace: {
            // Changed settings are told by `tellSettings`, which does not meet a server that is about to stop.
            didChangeConfiguration: () => Promise.resolve(),
            // The server reads the packages of the Python that was chosen for a folder, wherever; else it looks for a .venv.
            configuration: async (params, token, next) => {
              const sections = await next(params, token);
              const scopes = params.items.map((item) => (item.scopeUri ? vscode.Uri.parse(item.scopeUri) : undefined));
              const interpreters = await Promise.all(scopes.map(interpreterOf));
              return Array.isArray(sections)
                ? sections.map((section: object, index) => ({ ...section, interpreter: interpreters[index] }))
                : sections;
            },
          },
          window: {
            showDocument: async (params, token, next) =>
              params.uri.endsWith(".md") ? { success: await showPage(vscode.Uri.parse(params.uri)) } : next(params, token),
          },
        },
      },
    );
    client.onDidChangeState(({ newState }) => {
      if (client === this.client) {
        this.tell(newState, found);
      }
    });
    this.client = client;
    this.running = found;
    await client.start();
  }

  private tell(state: State, found: Found): void {
    if (state === State.Starting) {
      this.status.starting();
    } else if (state === State.Running) {
      const { name = "pallas-lsp", version = "" } = this.client?.initializeResult?.serverInfo ?? {};
      this.status.running(`${name} ${version}`.trim(), found.origin);
    } else {
      this.status.failed("The server stopped");
    }
  }

  private async askForPython(): Promise<void> {
    const [choose, logs] = ["Choose Python", "Show Logs"];
    const answer = await vscode.window.showErrorMessage("Pallas: kernels are not checked, because no Python 3.11 or newer was found.", choose, logs);
    if (answer === choose) {
      await choosePython();
    } else if (answer === logs) {
      this.log.show();
    }
  }
}

/** Let the user point at a Python, for this machine and every workspace. */
async function choosePython(): Promise<void> {
  const picked = await vscode.window.showOpenDialog({ title: "Python 3.11 or newer", openLabel: "Use This Python" });
  if (picked?.[0]) {
    await vscode.workspace.getConfiguration(SECTION).update("interpreter", picked[0].fsPath, vscode.ConfigurationTarget.Global);
  }
}
