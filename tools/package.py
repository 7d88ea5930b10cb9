"""Build discreet as others get it, install it into clean environments, and use it there.

    python tools/package.py                     the wheel without extras
    python tools/package.py frames figures …    with each of these extras, one environment for each
    python tools/package.py --all               with each extra, with all of them (what tests have), and without
    python tools/package.py --demo …            and run the demonstration in each

A source archive is built from the tree, and the wheel from that archive alone, so that both are whole. Every environment is new
and has nothing but the wheel and what it asks for. There the version is printed, a problem is designed and certified, what an extra
is for is imported, and the words for what is missing are looked at. Prints what each takes: megabytes, packages and seconds of
processor time. `make demo` is the extra `figures`. Needs hatchling, and a package index for pip.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "src" / "discreet"
PROBES = {
    "accounting": "from discreet.exchange import dominating, to_accounting\nimport dp_accounting",
    "figures": "import vl_convert",
    "frames": "import discreet\nfor kind in ('pandas', 'polars', 'arrow'):\n    discreet.engines.frames.frame_of({'a': [1]}, kind)",
    "gpu": "import importlib.util\nassert importlib.util.find_spec('cupy')\nfrom discreet.numerics.devices import device\ndevice()",
    "opendp": "import opendp.prelude\nfrom discreet.exchange import to_opendp",
    "postgres": "import psycopg\nfrom discreet.ledger.postgres_store import PostgresStore",
    "spark": "import pyspark, pandas, pyarrow\nfrom discreet.engines import SparkEngine",
    "stamps": "import rfc3161_client\nfrom discreet.ledger import stamps",
    "tokens": "import pkcs11\nfrom discreet.ledger import key_token",
    "web": "import starlette, uvicorn, jinja2\nimport discreet.web",
}
"""What an extra is for, imported."""
USED = """
import discreet, pathlib, sys
assert pathlib.Path(discreet.__file__).is_relative_to(sys.prefix) or {anywhere}, discreet.__file__
places = discreet.problem(respondents=4, values=[0, 1], probabilities=[0.7, 0.3], epsilon=1)
assert places.design().certify().result.proved
try:
    places.design().table()
except discreet.errors.MissingExtra as error:
    assert "frames" not in {extras} and 'pip install "discreet[frames]"' in str(error)
else:
    assert {anywhere} or {{"frames", "spark"}} & {extras}
"""


def extras() -> list[str]:
    """The extras for users, as declared."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    return sorted(set(declared) - {"dev"})


def built(folder: Path) -> tuple[Path, Path]:
    """The source archive of the tree, and the wheel made from it."""
    archive = folder / _hook("build_sdist", ROOT, folder)
    with tarfile.open(archive) as held:
        held.extractall(folder / "unpacked", filter="data")
    [source] = (folder / "unpacked").iterdir()
    return archive, folder / _hook("build_wheel", source, folder)


def _hook(name: str, tree: Path, folder: Path) -> str:
    """Ask the build backend, as pip does."""
    code = f"import sys, hatchling.build; print(hatchling.build.{name}(sys.argv[1]))"
    done = subprocess.run([sys.executable, "-c", code, str(folder)], cwd=tree, check=True, capture_output=True, text=True)
    return done.stdout.split()[-1]


def missing_from(archive: Path, wheel: Path) -> list[str]:
    """What should be in them and is not: every file of the library in both, and what a reader of the archive needs."""
    here = [path.relative_to(SOURCES) for path in SOURCES.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    with zipfile.ZipFile(wheel) as held:
        inside = set(held.namelist())
    lacking = [f"wheel: {path}" for path in here if f"discreet/{path.as_posix()}" not in inside]
    lacking += [f"wheel: {name} is no part of it" for name in inside if not name.startswith(("discreet/", "discreet-"))]
    with tarfile.open(archive) as held:
        inside = {name.partition("/")[2] for name in held.getnames()}
    wanted = [f"src/discreet/{path.as_posix()}" for path in here]
    wanted += [*linked(ROOT / "README.md"), "LICENSE", "Makefile", "constraints.txt"]
    return lacking + [f"archive: {name}" for name in wanted if name not in inside]


def linked(page: Path) -> list[str]:
    """The files of this project that a page links to."""
    targets = re.findall(r"\]\(([^)#\s:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    return sorted({target for target in targets if (ROOT / target).is_file()})


def asked_for(page: Path) -> set[str]:
    """The extras that `pip install` lines of a page name."""
    groups = re.findall(r'pip install "?(?:discreet|\.)\[([a-z,]+)\]', page.read_text(encoding="utf-8"))
    return {extra for group in groups for extra in group.split(",")}


def use(python: Path | str, chosen: list[str], anywhere: bool = False, **options: object) -> None:
    """Use an installation; `anywhere`: what it stands on may lie outside, with more in it."""
    probes = "\n".join(PROBES[extra] for extra in chosen)
    program = USED.format(anywhere=anywhere, extras=set(chosen) or "set()") + probes
    subprocess.run([str(python), "-c", program], check=True, **options)  # type: ignore[call-overload]


def tried(wheel: Path, chosen: list[str], folder: Path, *, demo: bool) -> str:
    """Install into a new environment and use it; what it took."""
    venv.create(folder, with_pip=True, symlinks=True)
    bare = _size(folder)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    what = f"{wheel}[{','.join(chosen)}]" if chosen else str(wheel)
    pip = [folder / "bin" / "python", "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", "--constraint", ROOT / "constraints.txt", what], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    listed = subprocess.run([*pip, "list", "--format=freeze"], check=True, capture_output=True, text=True).stdout.split()
    use(folder / "bin" / "python", chosen, cwd=folder)
    subprocess.run([folder / "bin" / "discreet", "--version"], check=True, stdout=subprocess.DEVNULL, cwd=folder)
    name = "no extra" if not chosen else chosen[0] if len(chosen) == 1 else "every extra"
    words = f"{name:<12} {_size(folder) - bare:6.0f} MB {len(listed):4d} packages {spent:6.0f} s to install"
    if demo:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [folder / "bin" / "discreet", "demo", folder / "demo", "--json"], check=True, cwd=folder,
            env=os.environ | {"XDG_CACHE_HOME": str(folder / "cache")}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        words += f" {after.ru_utime - before.ru_utime:6.0f} s for the demonstration"
    return words


def _size(folder: Path) -> float:
    """Megabytes of files, each once."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink()) / 1e6


def main() -> int:
    """Build, look at what was built, and try it as asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("extras", nargs="*", choices=[*extras(), []])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--demo", action="store_true")
    asked = parser.parse_args()
    choices = [[extra] for extra in asked.extras] or [[]]
    if asked.all:
        choices = [[], *([extra] for extra in extras()), extras()]
    with tempfile.TemporaryDirectory(prefix="package-") as work:
        archive, wheel = built(Path(work))
        print(*(f"{made.name}: {made.stat().st_size / 1e6:.1f} MB" for made in (archive, wheel)), sep="; ", flush=True)
        lacking = missing_from(archive, wheel)
        for chosen in choices if not lacking else []:
            with tempfile.TemporaryDirectory(prefix="environment-") as folder:
                print(tried(wheel, chosen, Path(folder), demo=asked.demo), flush=True)
    for line in lacking:
        print(f"missing from the {line}")
    return 1 if lacking else 0


if __name__ == "__main__":
    raise SystemExit(main())
