"""Pareto dominance, hypervolume, the Pareto set of cheap functions, representative subsets. Everything is minimized."""
