"""Examples of Hypothesis are the same in every run; AREAL_TEST_FULL=1 draws others, and more."""

import os

from hypothesis import settings

settings.register_profile("same", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("full", max_examples=5000, deadline=None, print_blob=True)
settings.load_profile("full" if os.environ.get("AREAL_TEST_FULL") == "1" else "same")
