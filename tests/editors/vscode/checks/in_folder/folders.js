// A workspace of two folders: settings and packages are those of the folder that a file is in.
const { findings, open, vscode, withSetting } = require("../vs.js");

module.exports = {
  async "a setting of one folder counts in that folder only"() {
    const [one, two] = [(await open("rms_norm.py", 0)).document, (await open("rms_norm.py", 1)).document];
    await Promise.all([findings(one, 1), findings(two, 1)]);
    const [folder] = vscode.workspace.workspaceFolders;
    await withSetting("ignore", ["store-scalar-to-vmem"], () => Promise.all([findings(one, 0), findings(two, 1)]), folder);
    await findings(one, 1);
  },

  async "each folder's interpreter says which JAX its rules are of"() {
    await findings((await open("removed.py", 0)).document, 1); // its environment has a JAX without that name,
    await findings((await open("removed.py", 1)).document, 0); // and this one's a JAX with it
  },
};
