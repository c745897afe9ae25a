"""The paper's experiments and ours, outside the package: `python -m experiments NAME`, then `… report`.

One run is one method on one problem: rows of numbers, appended to a CSV file as soon as they are known
(`results.py`), so that a command that was ended goes on where it stopped. `runs.py` holds the loop, `pool.py` spreads
runs over processes, `page.py` makes docs/experiments.md from the files. Every experiment is a module of its own.
"""
