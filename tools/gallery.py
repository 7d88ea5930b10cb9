"""Draw the gallery: every picture of the package `discreet.gallery`, into build/gallery."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Run the gallery if the house has one."""
    if importlib.util.find_spec("discreet.gallery") is None:
        print("gallery: no picture is finished yet.")
        return 0
    return subprocess.run([sys.executable, "-m", "discreet.gallery", str(ROOT / "build" / "gallery")], check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
