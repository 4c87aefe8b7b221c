"""Players whose returns the tasks are compared with; see `tools/make_baselines.py`."""
