// An interpreter is chosen for a folder by the command python.choose; until then none is.
const vscode = require("vscode");

exports.activate = function activate() {
  const changed = new vscode.EventEmitter();
  let chosen = "";
  vscode.commands.registerCommand("python.choose", (file) => {
    chosen = file;
    changed.fire({ path: file });
  });
  return {
    ready: Promise.resolve(),
    environments: {
      getActiveEnvironmentPath: () => ({ path: chosen }),
      resolveEnvironment: async ({ path }) => (path ? { executable: { uri: vscode.Uri.file(path) } } : undefined),
      onDidChangeActiveEnvironmentPath: changed.event,
    },
  };
};
