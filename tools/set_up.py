"""Make the virtual environment and install discreet with its development tools, or say plainly why not.

Standard library only: it runs before anything is installed. `python3 tools/set_up.py [FOLDER [demo]]`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import system

ROOT = Path(__file__).resolve().parent.parent
OLDEST = (3, 11)
EXTRAS = {"": "accounting,dev,figures,frames,opendp,postgres,spark,stamps,tokens,web", "demo": "figures"}
"""What is installed: everything that tests need, or what the demonstration needs."""


def main() -> int:
    """Create or complete the environment; 0 when it is ready."""
    if sys.version_info < OLDEST:
        return refuse(
            f"Python {sys.version.split()[0]} is too old. Install Python 3.11 or newer; "
            "if it has another name, say so: make PYTHON=python3.11"
        )
    folder = ROOT / (sys.argv[1] if len(sys.argv) > 1 else ".venv")
    purpose = sys.argv[2] if len(sys.argv) > 2 else ""
    python = folder / "bin" / "python"
    if not works(python) and not created(folder):
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        return refuse(
            f"The virtual environment {folder.name} could not be made. On Debian it needs the package "
            f"python{version}-venv: apt-get install python{version}-venv"
        )
    install = [
        python, "-m", "pip", "install", "--disable-pip-version-check", "--quiet",
        "--constraint", ROOT / "constraints.txt", "--editable", f"{ROOT}[{EXTRAS[purpose]}]",
    ]  # fmt: skip
    if subprocess.run(install, check=False).returncode != 0:
        return refuse("Packages could not be installed; see above. Check the network or your package index and run make again.")
    (folder / f".installed{'-' if purpose else ''}{purpose}").touch()
    return 0


def works(python: Path) -> bool:
    """Whether there is an interpreter with pip that starts and is recent enough."""
    if not python.exists():
        return False
    probe = f"import pip, sys; sys.exit(sys.version_info < {OLDEST})"
    return subprocess.run([python, "-c", probe], check=False, capture_output=True).returncode == 0


def created(folder: Path) -> bool:
    """Make the environment, fetching Debian's venv package first when that is what is missing."""
    make = [sys.executable, "-m", "venv", "--clear", folder]
    if subprocess.run(make, check=False, capture_output=True).returncode == 0:
        return True
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return system.installed([f"python{version}-venv"]) and subprocess.run(make, check=False).returncode == 0


def refuse(words: str) -> int:
    """Say why the environment is not ready."""
    print(f"set-up: {words}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
