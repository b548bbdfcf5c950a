#!/usr/bin/env bash
# Sets up real VS Code for the tests:  setup.sh FOLDER PYTHON
#
# FOLDER/bin            Node.js 20, which this code-server wants: the machine's, else one that is installed with PYTHON
# FOLDER/code-server    code-server, which is VS Code served to a browser
# FOLDER/node_modules   what drives the browser
#
# Nothing outside FOLDER is touched. A step that is done is not done again. Exits 3, naming the package, where the machine lacks something
# that only its administrator can install.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
python=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
mkdir -p "$1"
cd "$1"
folder=$PWD
version=4.100.3   # the last code-server on npm for Node.js 20; it is VS Code 1.100.3

missing() {
	echo "$1 (on Debian: apt-get install $2)" >&2
	exit 3
}

command -v "${CHROMIUM:-chromium}" >/dev/null || missing 'no Chromium was found' chromium
command -v g++ >/dev/null && command -v make >/dev/null || missing 'no C++ compiler was found' 'g++ make'

bash "$here/../../../editors/vscode/node.sh" bin "$python"
if [ -e bin/headers ]; then export npm_config_nodedir=$folder/bin/headers; fi
export PATH="$folder/bin:$PATH" npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false npm_config_loglevel=error

stamp=.ready-$version-$(node -p process.versions.modules)
if [ ! -f "$stamp" ]; then
	rm -rf code-server .ready-*
	mkdir code-server
	cd code-server
	echo '{"private": true}' >package.json
	# Install scripts would download from outside the registry, so the few native modules that the server cannot do without are built by name.
	npm install --ignore-scripts --no-save "code-server@$version"
	npm rebuild argon2 --build-from-source
	cd node_modules/code-server/lib/vscode
	npm install --ignore-scripts --omit=dev
	npm rebuild native-watchdog
	cp "$here/spdlog.js" node_modules/@vscode/spdlog/index.js
	# Links that the package's own install script makes.
	ln -sfn node_modules node_modules.asar
	ln -sfn code-linux.sh bin/remote-cli/code-server
	ln -sfn browser-linux.sh bin/helpers/browser.sh
	cd "$folder"
	node code-server/node_modules/code-server/out/node/entry.js --version >/dev/null
	touch "$stamp"
fi

if ! cmp -s "$here/package-lock.json" package-lock.json || [ ! -d node_modules ]; then
	cp "$here/package.json" "$here/package-lock.json" .
	npm ci --ignore-scripts
fi
