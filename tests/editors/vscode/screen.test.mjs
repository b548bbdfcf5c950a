// What a person sees, with mouse and keyboard. The pictures are those of the documentation.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { PYTHON, program, startVSCode, until } from "./harness.mjs";
import { MATMUL, PROJECT, RMS_NORM } from "./texts.mjs";

const RULE = "store-scalar-to-vmem";
const lineOf = (text, part) => text.split("\n").findIndex((line) => line.includes(part)) + 1;
/** The part of a window that has messages and the language status. */
const CORNER = { x: 360, y: 400, width: 500, height: 160 };
/** The word `word` on the line that has `part`. */
const wordIn = (page, part, word) => page.locator(".view-line", { hasText: part }).locator("span > span", { hasText: word }).first();
let vscode;

before(async () => {
  vscode = await startVSCode({ user: { "workbench.activityBar.location": "hidden", "workbench.statusBar.visible": false, "breadcrumbs.enabled": false } });
});

after(async () => {
  await vscode?.stop();
});

/** A window on `file` with `text`, without side bar; `see` gets it, and a picture is left of what it fails at. */
async function seeing(file, text, see, size) {
  const folder = vscode.folder(fs.mkdtempSync(path.join(vscode.state, "w")).slice(vscode.state.length + 1), { ...PROJECT, [file]: text });
  const window = await vscode.open(folder, file, { width: 860, height: 560, ...size });
  try {
    await window.editor.waitFor();
    await window.page.keyboard.press("Control+B"); // the side bar away
    await see(window, path.join(folder, file));
    assert.deepEqual(window.outside, []);
  } catch (error) {
    await window.picture(`failure-${path.basename(folder)}`).catch(() => {});
    throw error;
  } finally {
    await window.close();
  }
}

test("a finding with the BlockSpec that decided it, its hover, its quick fix", async () => {
  await seeing("rms_norm.py", RMS_NORM, async (window, file) => {
    const { page } = window;
    const faulty = lineOf(RMS_NORM, "rrms_ref[0, 0] = rrms");
    await window.squiggles.first().waitFor({ state: "attached" });

    await page.keyboard.press("Control+Shift+M");
    const problems = page.locator(".markers-panel .monaco-list-row");
    await problems.filter({ hasText: RULE }).waitFor();
    assert.match(await problems.filter({ hasText: RULE }).innerText(), /scalar stored to `rrms_ref`, which is in VMEM/);
    await problems.filter({ hasText: "by this BlockSpec" }).dblclick(); // the related place, under the finding
    await page.locator(".view-line", { hasText: "pl.BlockSpec((None, 1, 1)" }).waitFor();
    const above = page.locator(".view-line", { hasText: "mean_square = jnp.mean" });
    await until("both places in the view", async () => {
      await page.keyboard.press("Control+1"); // to the editor, where it is not yet
      await page.keyboard.press("Control+ArrowUp"); // scrolls
      return above.isVisible();
    });
    await window.picture("finding");
    await page.keyboard.press("Control+J");

    await window.goTo(faulty, 6);
    await wordIn(page, "rrms_ref[0, 0]", "rrms_ref").hover();
    const hover = page.locator(".monaco-hover:not(.hidden)", { hasText: "Cannot store scalars to VMEM" });
    await hover.waitFor();
    assert.match(await hover.innerText(), /rrms_ref: f32\[1,1\] in VMEM/);
    await window.picture("hover");
    await page.mouse.move(5, 5);
    await hover.waitFor({ state: "hidden" });

    await window.goTo(faulty, 6);
    await page.keyboard.press("Control+.");
    await page.locator(".action-widget .monaco-list-row.focused").waitFor();
    await window.picture("quick-fix");
    await page.keyboard.press("Enter"); // a click would not pass the menu's own shield
    await window.squiggles.first().waitFor({ state: "detached" });
    await page.keyboard.press("Control+S");
    await until("the saved file", () => /rrms_ref\[\.\.\.\] = jnp\.full\(rrms_ref\.shape, rrms\)/.test(fs.readFileSync(file, "utf8")));
    await page.locator(".codelens-decoration", { hasText: "1 error" }).waitFor({ state: "detached" });
    await window.picture("fixed");
  }, { height: 680 });
});

test("the rule's page, by a click on its name in the hover, and by what JAX said", async () => {
  await seeing("rms_norm.py", RMS_NORM, async (window) => {
    const { page } = window;
    await window.squiggles.first().waitFor({ state: "attached" });
    await window.goTo(lineOf(RMS_NORM, "rrms_ref[0, 0] = rrms"), 6);
    await wordIn(page, "rrms_ref[0, 0]", "rrms_ref").hover();
    await page.locator(".monaco-hover:not(.hidden) a", { hasText: RULE }).first().click();
    const preview = page.frameLocator("iframe.webview.ready").frameLocator("#active-frame");
    await preview.locator("h2", { hasText: "What it means" }).waitFor();
    await window.picture("page");

    await page.keyboard.press("Control+F4");
    await window.run("Pallas: Explain Rule or JAX Message");
    await page.locator(".quick-input-widget input[placeholder*='JAX']").fill("only load scalars from SMEM");
    await page.locator(".quick-input-list .monaco-list-row.focused", { hasText: "load-vector-from-smem" }).waitFor();
    await page.keyboard.press("Enter");
    await page.locator(".tab.active", { hasText: "load-vector-from-smem" }).waitFor();
  });
});

test("inlay hints, and the code lens above the kernel call", async () => {
  await seeing("matmul.py", MATMUL, async (window) => {
    await window.page.locator(".view-line", { hasText: "x_ref" }).filter({ hasText: "bf16[256,512]" }).waitFor();
    await window.page.locator(".codelens-decoration", { hasText: "grid" }).first().waitFor();
    await window.picture("hints-and-lens");
  }, { height: 800 });
});

test("no Python fits: a message with a button, and the Python that is pointed at", async () => {
  const pythons = fs.mkdtempSync(path.join(vscode.state, "pythons"));
  program(pythons, "python3", path.join(pythons, "note"), "echo 3.9");
  const bare = await startVSCode({ pythons, machine: { "pallas-lsp.importStrategy": "useBundled" } });
  const [machine, restore] = [vscode, () => (vscode = machine)];
  vscode = bare;
  try {
    await seeing("rms_norm.py", RMS_NORM, async (window) => {
      const { page } = window;
      const message = page.locator(".notification-toast", { hasText: "no Python 3.11 or newer was found" });
      await message.waitFor();
      await window.picture("no-python", CORNER);
      await message.locator(".monaco-button", { hasText: "Choose Python" }).click();
      const shown = (name) => page.locator(".quick-input-list .monaco-list-row", { hasText: name }).waitFor();
      const chosen = program(pythons, "chosen", path.join(pythons, "note"));
      await shown("rms_norm.py"); // the dialog is there, with the files of the workspace
      await page.locator(".quick-input-widget input").first().fill(chosen);
      await shown("chosen");
      await page.locator(".quick-input-widget .monaco-button", { hasText: "Use This Python" }).click();
      await window.squiggles.first().waitFor({ state: "attached" });
      await page.locator("[id='status.languageStatus']").hover();
      await page.locator(".hover-language-status", { hasText: /bundled, Python 3\.\d+/ }).waitFor();
      await window.picture("status", CORNER);
    });
  } finally {
    await bare.stop();
    restore();
  }
});
