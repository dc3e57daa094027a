"""Jupyter's own packages, set so that they do not warn of what they will change."""

import os

os.environ.setdefault("JUPYTER_PLATFORM_DIRS", "1")  # read when jupyter_core is imported
