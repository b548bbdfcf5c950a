// A folder whose interpreter has a pallas-lsp of its own.
const { findings, open } = require("../vs.js");

module.exports = {
  async "kernels are checked, by the server of the environment"() {
    await findings((await open("rms_norm.py")).document, 1);
  },
};
