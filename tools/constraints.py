"""Print every installed distribution as name==version, without discreet itself and without addresses."""

from __future__ import annotations

from importlib.metadata import distributions

LEFT_OUT = {"discreet", "pip", "setuptools", "wheel"}


def main() -> None:
    """One line per distribution, in the alphabet's order."""
    found = {item.metadata["Name"].lower().replace("_", "-"): item.version for item in distributions()}
    for name in sorted(set(found) - LEFT_OUT):
        print(f"{name}=={found[name]}")


if __name__ == "__main__":
    main()
