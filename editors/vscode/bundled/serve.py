"""Starts the server that comes with the extension:  python -I -S serve.py server

With -I and -S nothing but Python's own library is on the path, so no package of the environment is imported and none of its start-up
files runs; the server and what it needs lie in libs/, beside this file.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "libs"))

from pallas_lsp.__main__ import main

sys.exit(main())
