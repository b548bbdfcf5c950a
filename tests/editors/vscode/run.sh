#!/usr/bin/env bash
# Tests the VSIX in real VS Code:  run.sh FOLDER PYTHON [TEST…]   (FOLDER as setup.sh takes it; without TEST all of them)
#
# Pictures of what the tests see go to FOLDER/pictures, or where PICTURES says.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
extension=$(cd "$here/../../../editors/vscode" && pwd)
bash "$here/setup.sh" "$1" "$2"
folder=$(cd "$1" && pwd)
export PATH="$folder/bin:$PATH" VSCODE_TEST=$folder VSIX=$extension/pallas-lsp.vsix
export HELPERS=$folder/checks.vsix:$folder/python_extension.vsix
export PICTURES=${PICTURES:-$folder/pictures}
PYTHON=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
export PYTHON
shift 2

mkdir -p "$PICTURES"
for helper in checks python_extension; do
	(cd "$here/$helper" && node "$extension/node_modules/@vscode/vsce/vsce" package \
		--no-dependencies --skip-license --allow-missing-repository --out "$folder/$helper.vsix" >/dev/null)
done
[ $# -gt 0 ] || set -- "$here"/*.test.mjs

# On a busy machine an editor can be late for a step that a test waits for, so a file that fails is run once more, and said to be.
for test in "$@"; do
	node --test --test-concurrency=1 "$test" || {
		echo "== $(basename "$test"): once more"
		node --test --test-concurrency=1 "$test"
	}
done
