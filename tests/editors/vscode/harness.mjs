// Real VS Code for a test: code-server on a port of its own, with the VSIX installed, in a headless Chromium.
//
// The environment says where things are: VSCODE_TEST (what setup.sh made), VSIX, HELPERS (the extensions checks/ and python_extension/), PYTHON,
// PICTURES (where to put them) and CHROMIUM.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { createRequire } from "node:module";

const INSTALLED = path.resolve(process.env.VSCODE_TEST);
const { chromium } = createRequire(path.join(INSTALLED, "package.json"))("playwright-core");

export const REPOSITORY = path.resolve(import.meta.dirname, "../../..");
export const PYTHON = process.env.PYTHON;
const PATIENCE = 30_000;

const QUIET = {
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
  "workbench.enableExperiments": false,
  "workbench.reduceMotion": "on", // a picture is not to catch a hover half faded in
  "workbench.colorTheme": "Default Light Modern",
  "workbench.layoutControl.enabled": false,
  "window.commandCenter": false,
  "telemetry.telemetryLevel": "off",
  "update.mode": "none",
  "extensions.autoUpdate": false,
  "extensions.autoCheckUpdates": false,
  "extensions.ignoreRecommendations": true,
  "security.workspace.trust.startupPrompt": "never",
  "security.workspace.trust.banner": "never",
  "git.enabled": false,
  "files.autoSave": "off",
  "files.hotExit": "off",
  "editor.minimap.enabled": false,
  "editor.stickyScroll.enabled": false,
  "editor.hover.delay": 100,
  "editor.wordBasedSuggestions": "off",
};

/** Waits until `value()` is true to speak of, and gives it. */
export async function until(what, value, patience = PATIENCE) {
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

/** A program `name` in `folder` that writes its arguments to `note` and is then what `shell` says. */
export function program(folder, name, note, shell = `exec "${PYTHON}" "$@"`) {
  fs.mkdirSync(folder, { recursive: true });
  const file = path.join(folder, name);
  fs.writeFileSync(file, `#!/bin/sh\necho "$@" >> "${note}"\n${shell}\n`, { mode: 0o755 });
  return file;
}

/**
 * VS Code with the extension. `machine` are settings of this machine, `user` those of the user (pallas-lsp.interpreter is of the machine: VS
 * Code drops it from the user's where it serves a remote client). `trusted`: every folder is. `pythons`: the folder that stands for PATH.
 */
export async function startVSCode({ machine = {}, user = {}, trusted = true, pythons } = {}) {
  const state = fs.mkdtempSync(path.join(os.tmpdir(), "pallas-vscode-"));
  const write = (file, text) => {
    fs.mkdirSync(path.dirname(path.join(state, file)), { recursive: true });
    fs.writeFileSync(path.join(state, file), text);
  };
  write("data/User/settings.json", JSON.stringify({ ...QUIET, "security.workspace.trust.enabled": !trusted, ...user }));
  write("data/Machine/settings.json", JSON.stringify(machine));
  write("config.yaml", "");
  write("home/.keep", "");
  if (!pythons) {
    pythons = path.join(state, "bin");
    program(pythons, "python3", path.join(state, "started"));
  }
  // With VSCODE_CLI the environment is taken as it is; else a login shell would be asked for a PATH.
  const env = { PATH: pythons, HOME: path.join(state, "home"), LANG: "C.UTF-8", SHELL: "/bin/sh", VSCODE_CLI: "1", EXTENSIONS_GALLERY: "{}" };
  const entry = path.join(INSTALLED, "code-server/node_modules/code-server/out/node/entry.js");
  const folders = ["--user-data-dir", path.join(state, "data"), "--extensions-dir", path.join(state, "extensions")];
  const command = [entry, "--config", path.join(state, "config.yaml"), ...folders];
  const extensions = [process.env.VSIX, ...process.env.HELPERS.split(":")].flatMap((vsix) => ["--install-extension", vsix]);
  execFileSync(process.execPath, [...command, ...extensions], { env, stdio: ["ignore", "ignore", "inherit"] });

  const port = await freePort();
  const options = ["--auth", "none", "--bind-addr", `127.0.0.1:${port}`, "--locale", "en", "--ignore-last-opened", ...(process.env.LOG ? ["--log", process.env.LOG] : [])];
  const disabled = ["telemetry", "update-check", "getting-started-override", "proxy"].map((what) => `--disable-${what}`);
  const log = fs.openSync(path.join(state, "code-server.log"), "w");
  // Detached, so that it has a process group, which ends with all that it started.
  const server = spawn(process.execPath, [...command, ...options, ...disabled], { env, detached: true, stdio: ["ignore", log, log] });
  const exited = new Promise((resolve) => server.on("exit", resolve));
  const url = `http://127.0.0.1:${port}`;
  await until(`code-server, see ${state}/code-server.log`, () => fetch(`${url}/healthz`).then((answer) => answer.ok, () => false));
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
    args: ["no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking", "disable-component-update", "disable-sync"].map(
      (flag) => `--${flag}`,
    ),
  });

  return {
    state,

    /** A new folder of files: name to text. */
    folder(name, files) {
      for (const [file, text] of Object.entries(files)) {
        write(path.join(name, file), text);
      }
      return path.join(state, name);
    },

    /** The folder (or .code-workspace file) `opened` in a window, with its file `file` in the editor. */
    open: (opened, file, size) => openWindow(browser, url, opened, file, size),

    /** What the extension's log holds, of all windows so far. */
    log() {
      return findLogs(state).map((file) => fs.readFileSync(path.join(state, file), "utf8")).join("\n");
    },

    /** Which programs named python3 on PATH were started, and with what. */
    started: () => (fs.existsSync(path.join(state, "started")) ? fs.readFileSync(path.join(state, "started"), "utf8") : ""),

    async stop() {
      await browser.close();
      process.kill(-server.pid, "SIGTERM");
      await exited;
      if (!process.env.KEEP) {
        fs.rmSync(state, { recursive: true, force: true, maxRetries: 5 });
      }
    },
  };
}

async function openWindow(browser, url, opened, file, viewport = { width: 1000, height: 640 }) {
  const context = await browser.newContext({ viewport, locale: "en-US", reducedMotion: "reduce", permissions: ["clipboard-read", "clipboard-write"] });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  const outside = [];
  await page.route((asked) => asked.hostname !== "127.0.0.1" && !asked.hostname.endsWith(".localhost"), (route) => {
    outside.push(route.request().url());
    return route.abort();
  });
  const query = new URLSearchParams({ [opened.endsWith(".code-workspace") ? "workspace" : "folder"]: opened });
  if (file) {
    query.set("payload", JSON.stringify([["openFile", `vscode-remote://${new URL(url).host}${path.resolve(opened, file)}`]]));
  }
  await page.goto(`${url}/?${query}`, { waitUntil: "domcontentloaded" });
  await page.locator(".monaco-workbench").waitFor();
  return {
    page,
    /** Addresses off this machine that something asked for. */
    outside,
    editor: page.locator(".editor-instance .monaco-editor").first(),
    squiggles: page.locator(".monaco-editor .squiggly-error"),

    /** Runs a command by its title, as a person does. */
    async run(title) {
      await page.keyboard.press("F1");
      await page.locator(".quick-input-widget input").first().fill(`>${title}`);
      await page.locator(".quick-input-list .monaco-list-row", { hasText: title }).first().waitFor();
      await page.keyboard.press("Enter");
    },

    /** Puts the cursor at a line and a column, both from 1. */
    async goTo(line, column = 1) {
      await page.keyboard.press("Control+G");
      await page.locator(".quick-input-widget input").first().fill(`:${line}:${column}`);
      await page.keyboard.press("Enter");
      await page.locator(".quick-input-widget").waitFor({ state: "hidden" });
    },

    /** A picture of the window, or of its part `clip`. */
    picture: (name, clip) => page.screenshot({ path: path.join(process.env.PICTURES, `${name}.png`), clip, animations: "disabled" }),

    // Leaving the page ends the extension host and its server at once; else they wait hours for the page to come back.
    async close() {
      await page.goto("about:blank").catch(() => {});
      await context.close();
    },
  };
}

function findLogs(state) {
  const all = fs.readdirSync(path.join(state, "data/logs"), { recursive: true }).map(String);
  return all.filter((name) => /Pallas[^/]*\.log$/.test(name)).map((name) => path.join("data/logs", name));
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = net.createServer().on("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}
