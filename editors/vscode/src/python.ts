// Which program runs as the server: the one installed in the chosen environment, or the bundled one in the first Python that can run it.
import { execFile } from "node:child_process";
import * as path from "node:path";
import { promisify } from "node:util";
import { interpreterOf, isOfWorkspace, prefersEnvironment } from "./configuration";
import * as vscode from "vscode";

const OLDEST = [3, 11] as const;

/** Pythons that are tried after the chosen one. */
const ON_PATH =
  process.platform === "win32" ? ["py", "python", "python3"] : ["python3", "python", ...[14, 13, 12, 11].map((minor) => `python3.${minor}`)];

/** Prints the version, and whether the server is installed. Python 2 understands it too. */
const QUESTION = `
import sys
print("%d.%d" % sys.version_info[:2])
from importlib.util import find_spec
print(find_spec("pallas_lsp") is not None)
`;

/** How the server is started, in a few words whose it is, and which Pythons did not fit and why. */
export interface Found {
  readonly command: string;
  readonly args: string[];
  readonly origin: string;
  readonly tried: string[];
}

/** No Python fits. */
export type NoPython = Pick<Found, "tried">;

interface Python {
  readonly version: string;
  readonly hasServer: boolean;
}

/** Looks for the server to start; `extension` is the folder of the extension. A program of the workspace is only started where it is trusted. */
export async function findServer(extension: string): Promise<Found | NoPython> {
  const chosen = await interpreterOf(undefined);
  const first = chosen && (vscode.workspace.isTrusted || !isOfWorkspace(chosen)) ? [chosen] : [];
  const tried: string[] = [];
  for (const command of [...first, ...ON_PATH]) {
    const python = await ask(command, extension);
    if (typeof python === "string") {
      tried.push(`${command}: ${python}`);
    } else if (!isRecent(python.version)) {
      tried.push(`${command} is Python ${python.version}`);
    } else if (command === chosen && python.hasServer && prefersEnvironment()) {
      return { command, args: ["-m", "pallas_lsp", "server"], origin: `of the environment, Python ${python.version}`, tried };
    } else {
      const serve = path.join(extension, "bundled", "serve.py");
      return { command, args: ["-I", "-S", serve, "server"], origin: `bundled, Python ${python.version}`, tried };
    }
  }
  return { tried };
}

/** What `command` is, or why it does not run. Python would import modules from the folder it stands in, so that is our own. */
async function ask(command: string, cwd: string): Promise<Python | string> {
  try {
    const { stdout } = await promisify(execFile)(command, ["-c", QUESTION], { cwd, timeout: 20_000 });
    const [version = "", hasServer] = stdout.trim().split(/\s+/);
    return { version, hasServer: hasServer === "True" };
  } catch (error) {
    const { stdout, code } = error as { stdout?: string; code?: unknown };
    const version = stdout?.trim();
    return version ? { version, hasServer: false } : code === "ENOENT" ? "not found" : String(error);
  }
}

function isRecent(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}
