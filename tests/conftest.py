"""Hypothesis draws the same examples in every run, so that a change fails because of the change.

No example has a time limit: a busy machine is no fault of the code. `pytest --hypothesis-profile=default` draws new
examples; the fuzz targets do so for hours.
"""

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
