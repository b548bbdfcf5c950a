// The pages that explain the rules: found by a rule's id, by what it says or by JAX's message, and shown rendered.
import * as vscode from "vscode";
import { SECTION } from "./configuration";

const EXPLAIN = `${SECTION}.explain`;
const FOLDER = ["bundled", "libs", "pallas_lsp", "pages", "rules"];

/** Show the page of `rule`; without one, of the rule that the user picks from all, those of the findings at the cursor first. */
export async function explain(extension: vscode.Uri, rule: unknown, ask: (rule: string) => Promise<unknown>): Promise<void> {
  const folder = vscode.Uri.joinPath(extension, ...FOLDER);
  const wanted = typeof rule === "string" ? rule : await pickRule(folder);
  if (wanted === undefined || !/^[\w-]+$/.test(wanted)) {
    return;
  }
  const page = vscode.Uri.joinPath(folder, `${wanted}.md`);
  const isBundled = await vscode.workspace.fs.stat(page).then(() => true, () => false);
  await (isBundled ? showPage(page) : ask(wanted)); // a newer server in the environment may know a rule that the bundled one does not
}

/** Show the Markdown file `page` as it is meant to be read; whether that could be done. */
export async function showPage(page: vscode.Uri): Promise<boolean> {
  try {
    await vscode.commands.executeCommand("markdown.showPreview", page);
    return true;
  } catch {
    return false;
  }
}

/** The findings, with each rule's name a link to its page. */
export function withLinks(diagnostics: vscode.Diagnostic[]): vscode.Diagnostic[] {
  for (const diagnostic of diagnostics) {
    const value = ruleOf(diagnostic);
    diagnostic.code = { value, target: vscode.Uri.parse(`command:${EXPLAIN}?${encodeURIComponent(JSON.stringify([value]))}`) };
  }
  return diagnostics;
}

function ruleOf({ code }: vscode.Diagnostic): string {
  return String(typeof code === "object" ? code.value : code);
}

async function pickRule(folder: vscode.Uri): Promise<string | undefined> {
  const here = new Set(rulesAtCursor());
  const names = (await vscode.workspace.fs.readDirectory(folder)).map(([name]) => name).filter((name) => name.endsWith(".md"));
  const items = await Promise.all(names.sort().map((name) => describe(vscode.Uri.joinPath(folder, name), name.slice(0, -".md".length))));
  const [atCursor, others] = [items.filter((item) => here.has(item.label)), items.filter((item) => !here.has(item.label))];
  const title = (label: string) => ({ label, kind: vscode.QuickPickItemKind.Separator });
  const shown = atCursor.length ? [title("at the cursor"), ...atCursor, title("all rules"), ...others] : others;
  const options = { placeHolder: "A rule, or part of what JAX said", matchOnDescription: true, matchOnDetail: true };
  return (await vscode.window.showQuickPick<vscode.QuickPickItem>(shown, options))?.label;
}

function rulesAtCursor(): string[] {
  const editor = vscode.window.activeTextEditor;
  const findings = editor ? vscode.languages.getDiagnostics(editor.document.uri) : [];
  return findings
    .filter((finding) => finding.source === SECTION && editor?.selection.intersection(finding.range))
    .map(ruleOf);
}

/** A rule as it is listed: its id, what its page says in a line, and JAX's message. */
async function describe(page: vscode.Uri, rule: string): Promise<vscode.QuickPickItem> {
  const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(page));
  const field = (name: string) => new RegExp(`^${name}: *(.*)$`, "m").exec(text)?.[1];
  return { label: rule, description: field("summary"), detail: field("jax-message") };
}
