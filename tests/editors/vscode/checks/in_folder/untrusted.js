// A folder that is not trusted, whose settings name a program of its own as the interpreter.
const { assert, findings, open, vscode } = require("../vs.js");

module.exports = {
  async "kernels are checked, by the bundled server"() {
    assert.equal(vscode.workspace.isTrusted, false);
    await findings((await open("rms_norm.py")).document, 1);
  },
};
