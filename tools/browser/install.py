"""Install what tests/browser needs from Debian: Chromium, which runs without a screen, and a font.

Looks only, in milliseconds, when all is there; 110 MB to fetch and 340 MB on disk. The browsers that npm packages bring
come from servers of their own, which not everybody reaches.
"""

import sys

from tools.debian import have

PACKAGES = ("chromium", "fonts-dejavu-core")

if __name__ == "__main__":
    sys.exit(have(PACKAGES, "browser"))
