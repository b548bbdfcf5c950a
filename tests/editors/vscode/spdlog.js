// In place of the native module @vscode/spdlog of the tests' code-server, whose build takes longer than all else: logs go straight to the file.
const fs = require("node:fs");
const path = require("node:path");

const LEVELS = ["trace", "debug", "info", "warn", "error", "critical", "off"];

class Logger {
  constructor(file) {
    this.file = file;
    this.level = LEVELS.indexOf("info");
    fs.mkdirSync(path.dirname(file), { recursive: true });
  }
  getLevel() {
    return this.level;
  }
  setLevel(level) {
    this.level = level;
  }
  setPattern() {}
  clearFormatters() {}
  flush() {}
  drop() {}
}
for (const [level, name] of LEVELS.slice(0, -1).entries()) {
  Logger.prototype[name] = function (message) {
    if (level >= this.level) {
      fs.appendFileSync(this.file, `${new Date().toISOString()} [${name}] ${message}\n`);
    }
  };
}

const create = (_name, file) => Promise.resolve(new Logger(file));

// One `exports.name =` each: VS Code is an ES module, and Node.js finds only names that are exported like this.
exports.version = 0;
exports.Logger = Logger;
exports.setLevel = () => {};
exports.setFlushOn = () => {};
exports.createRotatingLogger = create;
exports.createAsyncRotatingLogger = create;
