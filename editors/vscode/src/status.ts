// What the language status (the braces in the status bar of a Python file) says of the server.
import * as vscode from "vscode";
import { SECTION } from "./configuration";

const SHOW_LOGS: vscode.Command = { command: `${SECTION}.showLogs`, title: "Show Logs" };
const RESTART: vscode.Command = { command: `${SECTION}.restart`, title: "Restart" };

export class Status implements vscode.Disposable {
  private readonly item = vscode.languages.createLanguageStatusItem(SECTION, { language: "python" });

  constructor() {
    this.item.name = "Pallas";
    this.show("Pallas", "starts with the first file that mentions Pallas");
  }

  starting(): void {
    this.show("Pallas", "starting");
    this.item.busy = true;
  }

  /** `server` is its name and version, `origin` where it comes from. */
  running(server: string, origin: string): void {
    this.show(server, origin, SHOW_LOGS);
  }

  off(): void {
    this.show("Pallas", `off, by the setting ${SECTION}.enable`);
  }

  failed(why: string): void {
    this.show("Pallas", why, RESTART);
    this.item.severity = vscode.LanguageStatusSeverity.Error;
  }

  dispose(): void {
    this.item.dispose();
  }

  private show(text: string, detail: string, command?: vscode.Command): void {
    Object.assign(this.item, { text, detail, command, busy: false, severity: vscode.LanguageStatusSeverity.Information });
  }
}
