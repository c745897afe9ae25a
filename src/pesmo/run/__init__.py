"""Running a study: the loop that asks, evaluates and tells."""
