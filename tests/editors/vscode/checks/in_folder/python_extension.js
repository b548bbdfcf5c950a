// Beside the Python extension, in which an interpreter is chosen while the server runs.
const { assert, findings, open, path, until, vscode } = require("../vs.js");
const fs = require("node:fs");

module.exports = {
  async "the interpreter chosen in the Python extension runs the server, and its JAX counts"() {
    const { document } = await open("removed.py");
    await findings(document, 0); // no JAX is known, and not all of them lack the name
    const folder = path.dirname(document.fileName);
    await vscode.commands.executeCommand("python.choose", path.join(folder, "env/bin/python"));
    await findings(document, 1);
    const started = await until("a note", () => fs.existsSync(`${folder}.note`) && fs.readFileSync(`${folder}.note`, "utf8"));
    assert.match(started, /(serve\.py|-m pallas_lsp) server/);
  },
};
