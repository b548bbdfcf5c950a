// The extension as VS Code's own API shows it: checks/ runs inside the extension host, once for each kind of folder.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { PYTHON, REPOSITORY, program, startVSCode, until } from "./harness.mjs";
import { MATMUL, PLAIN, PROJECT, REMOVED, RMS_NORM, TWO_FAULTS, WIDE, environment } from "./texts.mjs";

let trusting, wary;

before(async () => {
  trusting = await startVSCode();
  wary = await startVSCode({ trusted: false });
});

after(async () => {
  await trusting?.stop();
  await wary?.stop();
});

/** Opens the folder (or workspace file) `opened`, whose name says which checks run in it, and reports what came of them. */
async function checksIn(context, vscode, opened) {
  const result = path.join(path.dirname(opened), `${path.basename(opened, ".code-workspace")}.result`);
  const window = await vscode.open(opened);
  try {
    const seen = await until("the result of the checks", () => fs.existsSync(result) && fs.readFileSync(result, "utf8"), 180_000);
    seen.split("\n").forEach((line) => context.diagnostic(line));
    assert.doesNotMatch(seen, /^failed: /m, seen);
    assert.match(seen, /^held: /);
    assert.deepEqual(window.outside, []);
  } finally {
    await window.close();
  }
}

const settings = (values) => ({ ".vscode/settings.json": JSON.stringify(values) });

test("what the extension offers for kernels", async (context) => {
  const files = { "plain.py": PLAIN, "rms_norm.py": RMS_NORM, "matmul.py": MATMUL, "wide.py": WIDE, "two_faults.py": TWO_FAULTS };
  await checksIn(context, trusting, trusting.folder("kernels", { ...PROJECT, ...files }));
  assert.doesNotMatch(trusting.log(), /Traceback/);
});

test("a workspace of two folders", async (context) => {
  const files = { "rms_norm.py": RMS_NORM, "removed.py": REMOVED };
  for (const [name, version] of [["one", "0.10.2"], ["two", "0.8.3"]]) {
    trusting.folder(name, { ...files, ...environment("env", version), ...settings({ "pallas-lsp.interpreter": "env/bin/python" }) });
  }
  trusting.folder("", { "folders.code-workspace": JSON.stringify({ folders: [{ path: "one" }, { path: "two" }] }) });
  await checksIn(context, trusting, path.join(trusting.state, "folders.code-workspace"));
});

test("the server that the environment has goes first", async (context) => {
  const note = path.join(trusting.state, "environment.note");
  const interpreter = program(path.join(trusting.state, "environment/env/bin"), "python", note, `PYTHONPATH="${REPOSITORY}" exec "${PYTHON}" "$@"`);
  const folder = trusting.folder("environment", { ...PROJECT, "rms_norm.py": RMS_NORM, ...settings({ "pallas-lsp.interpreter": interpreter }) });
  await checksIn(context, trusting, folder);
  assert.match(fs.readFileSync(note, "utf8"), /^-m pallas_lsp server/m);
});

test("the interpreter is the one chosen in the Python extension", async (context) => {
  program(path.join(trusting.state, "python_extension/env/bin"), "python", path.join(trusting.state, "python_extension.note"));
  await checksIn(context, trusting, trusting.folder("python_extension", { "removed.py": REMOVED, ...environment("env", "0.10.2") }));
});

test("an environment too old for the server is read all the same", async (context) => {
  const note = path.join(trusting.state, "old.note");
  program(path.join(trusting.state, "old_environment/env/bin"), "python", note, "echo 3.9");
  const files = { ...PROJECT, "rms_norm.py": RMS_NORM, ...settings({ "pallas-lsp.interpreter": "env/bin/python" }) };
  await checksIn(context, trusting, trusting.folder("old_environment", files));
  assert.doesNotMatch(fs.readFileSync(note, "utf8"), /server/);
});

test("a folder that is not trusted starts nothing of its own", async (context) => {
  const note = path.join(wary.state, "untrusted.note");
  program(path.join(wary.state, "untrusted/.venv/bin"), "python", note);
  const choices = { "pallas-lsp.interpreter": ".venv/bin/python", "pallas-lsp.importStrategy": "fromEnvironment" };
  await checksIn(context, wary, wary.folder("untrusted", { ...PROJECT, "rms_norm.py": RMS_NORM, ...settings(choices) }));
  assert.equal(fs.existsSync(note), false, "the interpreter of the workspace was started");
  assert.match(wary.started(), /^-I -S .*serve\.py server/m);
});
