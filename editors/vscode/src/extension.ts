// The extension: its commands, and the server that an open document asks for.
import * as vscode from "vscode";
import { SECTION } from "./configuration";
import { explain } from "./pages";
import { Server } from "./server";

let server: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const ours = (server = new Server(context));
  const command = (name: string, run: (...args: unknown[]) => unknown) => vscode.commands.registerCommand(`${SECTION}.${name}`, run);
  context.subscriptions.push(
    ours,
    command("restart", () => ours.restart()),
    command("showLogs", () => ours.log.show()),
    command("explain", (rule) => explain(context.extensionUri, rule, (wanted) => ours.execute(`${SECTION}.explainRule`, wanted))),
    command("fixAll", () => vscode.commands.executeCommand("editor.action.sourceAction", { kind: `source.fixAll.${SECTION}`, apply: "first" })),
    command("copyDebugInformation", () => copyDebugInformation(ours)),
    vscode.workspace.onDidOpenTextDocument((document) => ours.startFor(document)),
    vscode.workspace.onDidChangeTextDocument((event) => ours.startFor(event.document, event.contentChanges)),
  );
  vscode.workspace.textDocuments.forEach((document) => ours.startFor(document));
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}

async function copyDebugInformation(running: Server): Promise<void> {
  const text = await running.execute(`${SECTION}.debugInformation`);
  if (typeof text === "string") {
    await vscode.env.clipboard.writeText(text);
    void vscode.window.showInformationMessage("Pallas: copied to the clipboard.");
  } else {
    void vscode.window.showWarningMessage("Pallas: no server runs; the log says why.", "Show Logs").then((answer) => answer && running.log.show());
  }
}
