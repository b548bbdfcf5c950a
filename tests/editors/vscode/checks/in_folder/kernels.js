// One folder with kernels: all that the extension offers for them.
const { assert, findings, isRunning, open, ruleOf, until, vscode, withSetting } = require("../vs.js");

const RULE = "store-scalar-to-vmem";
const texts = (hovers) => hovers.flatMap((hover) => hover.contents.map((content) => content.value)).join("\n");
const hoversAt = (document, place) => vscode.commands.executeCommand("vscode.executeHoverProvider", document.uri, place);
const everything = (document) => new vscode.Range(0, 0, document.lineCount, 0);
const hintsOf = async (document) => {
  const hints = await vscode.commands.executeCommand("vscode.executeInlayHintProvider", document.uri, everything(document));
  return hints.map((hint) => (typeof hint.label === "string" ? hint.label : hint.label.map((part) => part.value).join("")));
};
const lensesOf = async (document) => {
  const lenses = await vscode.commands.executeCommand("vscode.executeCodeLensProvider", document.uri, 20);
  return lenses.map((lens) => lens.command?.title);
};
const quickFixes = (document, finding) =>
  vscode.commands.executeCommand("vscode.executeCodeActionProvider", document.uri, finding.range, vscode.CodeActionKind.QuickFix.value);

module.exports = {
  async "no server starts for a Python file that has nothing to do with Pallas"() {
    await open("plain.py");
    const extension = vscode.extensions.getExtension("pallas-lsp.pallas-lsp");
    await until("the extension", () => extension.isActive);
    await new Promise((resolve) => setTimeout(resolve, 500));
    assert.equal(await isRunning(), false);
  },

  async "a finding: its place, its rule, and the BlockSpec that decided it"() {
    const { document } = await open("rms_norm.py");
    const [finding] = await findings(document, 1);
    assert.equal(await isRunning(), true);
    assert.equal(document.getText(finding.range), "rrms_ref[0, 0]");
    assert.equal(finding.severity, vscode.DiagnosticSeverity.Error);
    assert.equal(ruleOf(finding), RULE);
    assert.match(finding.message, /`rrms_ref`, which is in VMEM/);
    const [related] = finding.relatedInformation;
    assert.equal(document.getText(related.location.range), "pl.BlockSpec((None, 1, 1), lambda i: (i, 0, 0))");
  },

  async "places are right behind characters of two UTF-16 units"() {
    const { document } = await open("wide.py");
    const [finding] = await findings(document, 1);
    assert.equal(document.getText(finding.range), "o_ref[0, 0]");
  },

  async "hover tells of the ref and of the finding"() {
    const { document } = await open("rms_norm.py");
    const [finding] = await findings(document, 1);
    assert.match(texts(await hoversAt(document, finding.range.start)), /rrms_ref: f32\[1,1\] in VMEM/);
  },

  async "each quick fix makes the finding go, and undo brings it back"() {
    const { document } = await open("rms_norm.py");
    const [finding] = await findings(document, 1);
    const before = document.getText();
    const fixes = (await quickFixes(document, finding)).filter((action) => action.edit);
    assert.ok(fixes.length >= 2, fixes.map((action) => action.title).join());
    assert.equal(fixes.filter((action) => action.isPreferred).length, 1);
    for (const fix of fixes) {
      assert.ok(await vscode.workspace.applyEdit(fix.edit), fix.title);
      await findings(document, 0);
      await vscode.commands.executeCommand("undo");
      await findings(document, 1);
      assert.equal(document.getText(), before, fix.title);
    }
  },

  async "inlay hints beside the kernel's parameters, and settings for them"() {
    const { document } = await open("matmul.py");
    await findings(document, 0);
    const shown = await until("hints", async () => (await hintsOf(document)).length && hintsOf(document));
    assert.ok(shown.some((label) => label.includes("bf16[256,512]")), shown.join());
    await withSetting("inlayHints.refs", false, () => until("no hints", async () => (await hintsOf(document)).length === 0));
    await until("the hints again", async () => (await hintsOf(document)).length === shown.length);

    const other = (await open("rms_norm.py")).document;
    await findings(other, 1);
    const isOfValue = (label) => label.includes("f32") && !label.includes("vmem");
    assert.ok(!(await hintsOf(other)).some(isOfValue));
    await withSetting("inlayHints.values", true, () => until("hints of values", async () => (await hintsOf(other)).some(isOfValue)));
  },

  async "a code lens above the kernel call, and a setting for it"() {
    const { document } = await open("matmul.py");
    const shown = await until("a lens", async () => (await lensesOf(document)).length && lensesOf(document));
    assert.match(shown.join(), /grid/);
    await withSetting("codeLens", false, () => until("no lens", async () => (await lensesOf(document)).length === 0));
    await until("the lens again", async () => (await lensesOf(document)).length === shown.length);
  },

  async "a setting counts at once"() {
    const { document } = await open("rms_norm.py");
    await findings(document, 1);
    await withSetting("ignore", [RULE], () => findings(document, 0));
    await findings(document, 1);
  },

  async "the server is switched off and on"() {
    const { document } = await open("rms_norm.py");
    await findings(document, 1);
    await withSetting("enable", false, async () => {
      await findings(document, 0);
      assert.equal(await isRunning(), false);
    });
    await findings(document, 1);
  },

  async "the server restarts on command"() {
    const { document } = await open("rms_norm.py");
    await findings(document, 1);
    await vscode.commands.executeCommand("pallas-lsp.restart");
    assert.equal(await isRunning(), true);
    await findings(document, 1);
  },

  async "a new server comes when the old one dies"() {
    const { document } = await open("rms_norm.py");
    await findings(document, 1);
    const { execFileSync } = require("node:child_process");
    const servers = () =>
      require("node:fs")
        .readdirSync("/proc")
        .filter((pid) => /^\d+$/.test(pid) && isOurs(pid));
    const isOurs = (pid) => {
      try {
        const [line, status] = ["cmdline", "status"].map((file) => require("node:fs").readFileSync(`/proc/${pid}/${file}`, "utf8"));
        return line.includes("serve.py") && status.includes(`PPid:\t${process.pid}`);
      } catch {
        return false;
      }
    };
    const [old] = servers();
    assert.ok(old);
    execFileSync("/bin/kill", ["-9", old]);
    await until("another server", () => servers().some((pid) => pid !== old));
    await findings(document, 1);
  },

  async "all safe fixes of a file at once"() {
    const { document } = await open("two_faults.py");
    await findings(document, 2);
    await vscode.commands.executeCommand("pallas-lsp.fixAll");
    await findings(document, 0);
    await vscode.commands.executeCommand("undo");
    await findings(document, 2);
  },

  async "a rule's page is shown rendered, by our command and by the server's"() {
    const tab = () => vscode.window.tabGroups.activeTabGroup.activeTab;
    const isPage = () => tab()?.input instanceof vscode.TabInputWebview && tab().label.includes(RULE);
    for (const command of ["pallas-lsp.explain", "pallas-lsp.explainRule"]) {
      await open("rms_norm.py");
      assert.equal(isPage(), false);
      await vscode.commands.executeCommand(command, RULE);
      await until(`the page, by ${command}`, isPage);
      await vscode.commands.executeCommand("workbench.action.closeActiveEditor");
    }
  },

  async "debug information is copied"() {
    await vscode.env.clipboard.writeText("");
    await vscode.commands.executeCommand("pallas-lsp.copyDebugInformation");
    assert.match(await vscode.env.clipboard.readText(), /pallas-lsp/);
  },
};
