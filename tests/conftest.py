"""Hypothesis draws the same examples in every run, so that a change fails because of the change.

`pytest --hypothesis-profile=default` draws new ones; the fuzz targets do so for hours.
"""

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True)
settings.load_profile("repeatable")
