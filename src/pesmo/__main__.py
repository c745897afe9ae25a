"""`python -m pesmo`: the command line, where the script `pesmo` is not on the PATH."""

from pesmo.cli.app import main

main()
