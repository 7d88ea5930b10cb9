"""The shape of the house as a table: files, lines, depth of imports, long functions, branches by kind, what an addition touches.

    python tools/house.py [ROOT …]

Each ROOT is a checkout (default: this one), and becomes a column; `git worktree add` or `git archive` makes one of an older commit.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

LONG = 60
COUNTED = {
    "`assert isinstance`": r"\bassert isinstance\(",
    "`isinstance(…TableKernel)`": r"\bisinstance\([^)]*\bTableKernel\b",
    "`isinstance` of any kernel": r"\bisinstance\([^)]*Kernel\b",
    "`decision.kind` as text": r"\bdecisions?(\[\d\])?\.kind\s*(==|!=|\bin\b|not in)|\bd\.kind\s*(==|!=|\bin\b)",
    "any `.kind` compared as text": r"(?<!dtype)\.kind\s*(==|!=|\bin\b|not in)\s*[\"'(]",
}
"""What is counted, line by line, in the library."""
LISTED = {
    "promises": (r"\bPurePromise\b", r"\bConcentratedPromise\b", r"\bApproximatePromise\b"),
    "losses": (
        r"\bSquaredLoss\b|[\"']squared-error[\"']",
        r"\bAbsoluteLoss\b|[\"']absolute-error[\"']",
        r"\bPinballLoss\b|[\"']pinball[\"']",
    ),
    "kernels": (r"\bTableKernel\b", r"\b(Geometric|Closed)Kernel\b", r"\b(Staircase|Gaussian)Kernel\b"),
    "witnesses": (r"\bDualWitness\b", r"\bTheoremWitness\b", r"\bQuotientWitness\b"),
    "routes": (r"\bGeometricRoute\b|\bgeometric_kernel\b", r"\bLADDER\b|\bclimb\b", r"\bPROGRAMS\b|\bprogrammed\b"),
    "rungs": (r"\bClippedSum\b|\bclipped_sum\b", r"\bWeightsBySearch\b|\bsearch_weights\b", r"\bChainBound\b|\bchain_bound\b"),
}
"""Kinds that grow, by patterns that all stand in a file which lists them: such a file is edited when another kind is added."""


def sources(root: Path, folder: str = "src") -> list[Path]:
    """Every Python file below a folder of a checkout."""
    return sorted((root / folder).rglob("*.py"))


def lines_of(paths: list[Path]) -> int:
    """How many lines the files have."""
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def long_functions(root: Path) -> Iterator[tuple[int, int, str]]:
    """(lines of the body, lines with the signature, name) of every function of more than `LONG` lines."""
    for path in sources(root):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.end_lineno is not None:
                whole, body = node.end_lineno - node.lineno + 1, node.end_lineno - node.body[0].lineno + 1
                if whole > LONG:
                    yield body, whole, f"{path.relative_to(root / 'src' / 'discreet')} {node.name}"


def longest_chain(root: Path, package: str) -> list[str]:
    """The longest chain of modules of a package in which each imports the next when it is loaded."""
    base = root / "src" / "discreet"
    names = {_module(path, base): path for path in (base / package).rglob("*.py")}
    graph = {name: sorted(_loaded(path, name, set(names))) for name, path in names.items()}

    @cache
    def chain(name: str) -> tuple[str, ...]:
        return max(((name, *chain(other)) for other in graph[name]), key=len, default=(name,))

    return list(max(map(chain, graph), key=len))


def _module(path: Path, base: Path) -> str:
    parts = path.relative_to(base).with_suffix("").parts
    return ".".join(("discreet", *(parts[:-1] if parts[-1] == "__init__" else parts)))


def _loaded(path: Path, own: str, known: set[str]) -> set[str]:
    """Modules that importing a file imports: not those named in functions or for type checkers alone."""
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name for name in found & known if name != own and not own.startswith(f"{name}.")}


def counted(root: Path, pattern: str) -> int:
    """Lines of the library in which a pattern stands."""
    wanted = re.compile(pattern)
    return sum(bool(wanted.search(line)) for path in sources(root) for line in path.read_text(encoding="utf-8").splitlines())


def listing(root: Path, patterns: tuple[str, ...]) -> list[str]:
    """Files of the library in which every one of the patterns stands."""
    base = root / "src" / "discreet"
    texts = ((path, path.read_text(encoding="utf-8")) for path in sources(root))
    return [str(path.relative_to(base)) for path, text in texts if all(re.search(pattern, text) for pattern in patterns)]


def rows(root: Path) -> dict[str, str]:
    """What is measured, by its name."""
    library, long = sources(root), sorted(long_functions(root), reverse=True)
    packages = [path.name for path in sorted((root / "src" / "discreet").iterdir()) if (path / "__init__.py").is_file()]
    found = {
        "files of the library": f"{len(library):,}",
        "lines of the library": f"{lines_of(library):,}",
        "lines of tests": f"{lines_of(sources(root, 'tests')):,}",
        "packages": f"{len(packages)}",
        "longest file": f"{max(lines_of([path]) for path in library if path.name != 'verify_standalone.py')} lines",
        f"functions over {LONG} lines, bodies": f"{len(long)}, {sum(body > LONG for body, _, _ in long)}",
        "longest body": f"{long[0][0]} ({long[0][2]})" if long else "none",
    }
    for package in ("design", "certify", "model", "cli"):
        found[f"import depth of {package}"] = str(len(longest_chain(root, package)))
    found |= {name: str(counted(root, pattern)) for name, pattern in COUNTED.items()}
    return found | {f"files that list {name}": _shown(listing(root, patterns)) for name, patterns in LISTED.items()}


def _shown(files: list[str]) -> str:
    return f"{len(files)}: {', '.join(files)}" if files else "0"


def main(arguments: list[str]) -> None:
    """Print the table, and the longest chain of `design` in the last checkout."""
    roots = [Path(text).resolve() for text in arguments] or [Path(__file__).resolve().parent.parent]
    columns = [rows(root) for root in roots]
    for name in columns[0]:
        print(f"| {name} | " + " | ".join(column[name] for column in columns) + " |")
    print("design: " + " → ".join(name.removeprefix("discreet.design.") for name in longest_chain(roots[-1], "design")))


if __name__ == "__main__":
    main(sys.argv[1:])
