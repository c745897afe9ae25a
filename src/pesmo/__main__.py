"""`python -m pesmo`: the command line, where the script `pesmo` is not on the PATH."""

import os
import sys

if sys.path[:1] == [os.getcwd()]:  # Python puts it there; but a json.py of this folder is not what `import json` means
    del sys.path[0]

from pesmo.cli.app import main

sys.exit(main())
