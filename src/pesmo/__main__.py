"""`python -m pesmo`: the command line, where the script `pesmo` is not on the PATH."""

import sys

from pesmo.cli.app import main

sys.exit(main())
