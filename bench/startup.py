"""How long a person waits for `discreet --help` and `import discreet`, beside `python -c "import typer"`.

The three are run in turn, so that a busy machine slows all alike; the median of each is shown.
Goal: both within 3 times the import of typer in the same run.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

ROUNDS = 15
PROGRAMS = {
    'python -c "import typer"': [sys.executable, "-c", "import typer"],
    "import discreet": [sys.executable, "-c", "import discreet"],
    "discreet --help": [sys.executable, "-c", "from discreet.cli.main import main; main()", "--help"],
}


def seconds(command: list[str]) -> float:
    """The wall-clock time of one run."""
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def main() -> None:
    """Print medians and ratios."""
    for command in PROGRAMS.values():
        seconds(command)
    times: dict[str, list[float]] = {name: [] for name in PROGRAMS}
    for _ in range(ROUNDS):
        for name, command in PROGRAMS.items():
            times[name].append(seconds(command))
    peer = statistics.median(times['python -c "import typer"'])
    print(f"{'program':<28}{'median':>10}{'ratio':>8}")
    for name, measured in times.items():
        middle = statistics.median(measured)
        print(f"{name:<28}{middle * 1000:>7.0f} ms{middle / peer:>8.2f}")


if __name__ == "__main__":
    main()
