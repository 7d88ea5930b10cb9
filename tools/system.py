"""Programs outside Python that some tests need: find them, and install them where that is possible.

Only what a test asks for, by a mark such as `needs_chromium` or `needs_postgres`, is looked for.
On Debian and its relatives, as root or with a sudo that asks no password, what is missing is installed;
elsewhere the tests themselves say what is missing and how to get it, and with CI=true they fail.
Set DISCREET_INSTALL=no to leave the system alone. Standard library only.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Tool:
    """A program: the names it goes by, where else it may lie, and Debian's package for it."""

    name: str
    programs: tuple[str, ...]
    package: str
    folders: tuple[str, ...] = ()

    def found(self) -> Path | None:
        """Where the program is, or None."""
        for program in self.programs:
            here = shutil.which(program)
            if here:
                return Path(here)
            for pattern in self.folders:
                there = sorted(Path("/").glob(f"{pattern}/{program}"))
                if there:
                    return there[-1]
        return None

    def remedy(self) -> str:
        """What to do when it is missing."""
        return f"{self.name} was not found. On Debian: apt-get install {self.package}"


TOOLS = {
    "chromium": Tool("Chromium", ("chromium", "chromium-browser", "google-chrome"), "chromium"),
    "java": Tool("A Java runtime", ("java",), "default-jre-headless"),
    "postgres": Tool("PostgreSQL's initdb", ("initdb",), "postgresql", ("usr/lib/postgresql/*/bin",)),
    "softhsm": Tool("SoftHSM, a PKCS#11 token in software,", ("softhsm2-util",), "softhsm2"),
    "openssl": Tool("OpenSSL's program", ("openssl",), "openssl"),
    "r": Tool("R", ("Rscript",), "r-base-core"),
    "agent": Tool("OpenSSH's agent", ("ssh-agent",), "openssh-client"),
}


def needed() -> list[str]:
    """The tools that some test under tests/ asks for."""
    words = "\n".join(file.read_text(encoding="utf-8") for file in (ROOT / "tests").rglob("test_*.py"))
    return [name for name in TOOLS if re.search(rf"mark\.needs_{name}\b", words)]


def installed(packages: list[str]) -> bool:
    """Install Debian packages if this machine lets us; whether they are there now."""
    if os.environ.get("DISCREET_INSTALL", "yes").lower() in {"no", "0", "false"}:
        return False
    prefix = as_root()
    if prefix is None or shutil.which("apt-get") is None:
        return False
    print(f"system: installing {', '.join(packages)}", file=sys.stderr)
    get = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]
    subprocess.run([*get, "update", "-qq"], check=False, stdout=subprocess.DEVNULL)
    install = [*get, "install", "-y", "-qq", "--no-install-recommends", *packages]
    return subprocess.run(install, check=False, stdout=subprocess.DEVNULL).returncode == 0


def as_root() -> list[str] | None:
    """The words to put before a command so that it runs as root, or None when nothing gives that right."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") is None:
        return None
    asked = subprocess.run(["sudo", "-n", "true"], check=False, capture_output=True)
    return ["sudo", "-n"] if asked.returncode == 0 else None


def main() -> int:
    """Install what the tests need and this machine lacks; say what stays missing."""
    missing = [TOOLS[name] for name in needed() if TOOLS[name].found() is None]
    if missing:
        installed([tool.package for tool in missing])
    for tool in missing:
        if tool.found() is None:
            print(f"system: {tool.remedy()}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
