#!/usr/bin/env bash
# Builds pallas-lsp.vsix, with the server and what it needs in it:  build.sh PYTHON TOOLS
#
# PYTHON brings pip; TOOLS is the folder that Node.js is looked for in and put into where the machine's is another version.
set -euo pipefail

python=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
mkdir -p "$2"
tools=$(cd "$2" && pwd)
cd "$(dirname "$0")"

bash ./node.sh "$tools" "$python"
export PATH="$tools:$PATH"
cmp -s package-lock.json node_modules/.built-from || { npm ci --ignore-scripts --no-audit --no-fund --silent && cp package-lock.json node_modules/.built-from; }

rm -rf bundled/libs
"$python" -m pip install -q --disable-pip-version-check --no-compile --no-deps --target bundled/libs \
	--only-binary :all: --no-binary pallas-lsp -r bundled/requirements.txt ../..
# Of jedi, the stubs of Django and of other projects: most of its size, and nothing that the server asks for. Of pip, its own notes.
rm -r bundled/libs/jedi/third_party/{django-stubs,typeshed/stubs} bundled/libs/bin
rm bundled/libs/*.dist-info/{RECORD,direct_url.json,REQUESTED,INSTALLER} 2>/dev/null || true
cp ../../LICENSE LICENSE
npm run --silent package
