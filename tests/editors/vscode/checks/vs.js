// What the checks ask VS Code.
const assert = require("node:assert/strict");
const path = require("node:path");
const vscode = require("vscode");

/** Waits until `value()` is true to speak of, and gives it. */
async function until(what, value, patience = 30_000) {
  const deadline = Date.now() + patience;
  for (;;) {
    const seen = await value();
    if (seen) {
      return seen;
    }
    assert.ok(Date.now() < deadline, `waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** The file `name` of the `index`th folder, opened in the editor. */
async function open(name, index = 0) {
  const uri = vscode.Uri.joinPath(vscode.workspace.workspaceFolders[index].uri, name);
  return vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), { preview: false });
}

/** The findings of pallas-lsp in `document` once there are `count`. */
function findings(document, count) {
  const ours = () => vscode.languages.getDiagnostics(document.uri).filter((finding) => finding.source === "pallas-lsp");
  return until(`${count} findings in ${path.basename(document.fileName)}`, () => ours().length === count && ours());
}

/** The id of the rule that `finding` is of. */
const ruleOf = (finding) => (typeof finding.code === "object" ? finding.code.value : finding.code);

/** Runs `check` while the setting `name` is `value`, of the workspace or of the one folder `folder`. */
async function withSetting(name, value, check, folder) {
  const target = folder ? vscode.ConfigurationTarget.WorkspaceFolder : vscode.ConfigurationTarget.Workspace;
  const section = () => vscode.workspace.getConfiguration("pallas-lsp", folder);
  await section().update(name, value, target);
  try {
    await check();
  } finally {
    await section().update(name, undefined, target);
  }
}

/** Whether the server runs: VS Code knows its commands just then. */
const isRunning = async () => (await vscode.commands.getCommands()).includes("pallas-lsp.explainRule");

module.exports = { assert, findings, isRunning, open, path, ruleOf, until, vscode, withSetting };
