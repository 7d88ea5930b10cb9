"""Draw the gallery: every picture of the package `discreet.gallery`, into build/gallery."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Draw and check all pictures, or those named."""
    folder = str(ROOT / "build" / "gallery")
    return subprocess.run([sys.executable, "-m", "discreet.gallery", folder, *sys.argv[1:]], check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
