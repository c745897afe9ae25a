"""The command line. A leaf: nothing imports it. Heavy imports stay inside commands: --help answers at once."""
