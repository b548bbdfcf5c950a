// A folder whose interpreter is too old to run the server.
const { findings, open } = require("../vs.js");

module.exports = {
  async "kernels are checked, by another Python on PATH"() {
    await findings((await open("rms_norm.py")).document, 1);
  },
};
