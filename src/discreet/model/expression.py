"""Payoff expressions: a small language for u(a, ω), parsed by hand and computed exactly. Nothing is ever executed.

    expression := comparison
    comparison := sum [(< | <= | > | >= | == | !=) sum]        1 if it holds, else 0
    sum        := product {(+ | -) product}
    product    := unary {(* | /) unary}
    unary      := - unary | power
    power      := atom [** integer]
    atom       := number | a | omega | (expression) | abs(e) | min(e, …) | max(e, …)

Values are rationals, so a payoff is a number and not an approximation. `Node` trees evaluate on Fractions, on many of them at
once (`many_fractions`) and on NumPy arrays alike. `affine_parts` splits u = f(a) + ω·g(a), the form that real-valued actions need.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cached_property, reduce
from typing import Any

from discreet.errors import InputError, suggest
from discreet.frozen import dataclass
from discreet.numerics.exact import exact, format_exact
from discreet.numerics.many_fractions import Fractions, larger
from discreet.numerics.polynomials import Polynomial, add, multiply, trim

LONGEST = 4_000
MOST_TOKENS = 400
DEEPEST = 60
LARGEST_POWER = 64
MOST_BITS = 30_000
"""How long a number may become when variables of 64 bits are put in: about a power of 460, or 9,000 digits."""
VARIABLES = ("a", "omega")
FUNCTIONS = ("abs", "min", "max")


@dataclass(frozen=True)
class Node:
    """An operator with its operands; `number` holds a constant's value and `variable` a name."""

    operator: str
    operands: tuple[Node, ...] = ()
    number: Fraction | None = None
    variable: str | None = None

    def __call__(self, values: Mapping[str, Any]) -> Any:
        """The value at the given variables: Fractions in, a Fraction out; arrays in, an array out."""
        if self.number is not None:
            plain = all(isinstance(v, Fraction | Fractions) for v in values.values())
            return self.number if plain else float(self.number)
        if self.variable is not None:
            return values[self.variable]
        found = [operand(values) for operand in self.operands]
        return _APPLY[self.operator](*found)

    def depends_on(self, variable: str) -> bool:
        return self.variable == variable or any(o.depends_on(variable) for o in self.operands)

    @cached_property
    def bits(self) -> int:
        """A bound on the length of the value when each variable has 64 bits: lengths add, powers multiply."""
        if self.number is not None:
            return self.number.numerator.bit_length() + self.number.denominator.bit_length()
        if self.variable is not None:
            return 64
        if self.operator == "**":
            return self.operands[0].bits * abs(int(self.operands[1].number or 0))
        return sum(operand.bits for operand in self.operands)

    def __str__(self) -> str:
        if self.number is not None:
            return format_exact(self.number)
        if self.variable is not None:
            return self.variable
        if self.operator == "negative":
            return f"-({self.operands[0]})"
        if self.operator in FUNCTIONS:
            return f"{self.operator}({', '.join(map(str, self.operands))})"
        return "(" + f" {self.operator} ".join(map(str, self.operands)) + ")"


def number(value: Fraction | int) -> Node:
    return Node("number", number=Fraction(value))


def parse(text: str) -> Node:
    """The tree of an expression; anything outside the grammar is refused with its place."""
    if len(text) > LONGEST:
        raise InputError(
            "The payoff expression is too long",
            found=f"{len(text)} characters",
            allowed=f"up to {LONGEST}",
            remedy="shorten it, or give the payoff as a table",
        )
    return _Parser(text).parse()


def affine_parts(node: Node) -> tuple[Node, Node] | None:
    """(f, g) with u = f(a) + ω·g(a) when the tree shows it, else None."""
    if not node.depends_on("omega"):
        return node, number(0)
    if node.variable == "omega":
        return number(0), number(1)
    parts = [affine_parts(o) for o in node.operands]
    if any(p is None for p in parts):
        return None
    pairs = [p for p in parts if p is not None]
    if node.operator in "+-":
        (f, g), (h, k) = pairs
        return Node(node.operator, (f, h)), Node(node.operator, (g, k))
    if node.operator == "negative":
        f, g = pairs[0]
        return Node("negative", (f,)), Node("negative", (g,))
    if node.operator == "*":
        left, right = node.operands
        if left.depends_on("omega") and right.depends_on("omega"):
            return None
        plain, (f, g) = (right, pairs[0]) if left.depends_on("omega") else (left, pairs[1])
        return Node("*", (plain, f)), Node("*", (plain, g))
    if node.operator == "/" and not node.operands[1].depends_on("omega"):
        f, g = pairs[0]
        return Node("/", (f, node.operands[1])), Node("/", (g, node.operands[1]))
    return None


def derivative(node: Node, variable: str) -> Node | None:
    """d node / d variable, or None where the tree has a kink (abs, min, max, a comparison)."""
    if not node.depends_on(variable):
        return number(0)
    if node.variable == variable:
        return number(1)
    rates = [derivative(o, variable) for o in node.operands]
    if any(r is None for r in rates) or node.operator not in ("+", "-", "*", "/", "**", "negative"):
        return None
    d = [r for r in rates if r is not None]
    x = node.operands
    if node.operator in ("+", "-"):
        return Node(node.operator, (d[0], d[1]))
    if node.operator == "negative":
        return Node("negative", (d[0],))
    if node.operator == "*":
        return Node("+", (Node("*", (d[0], x[1])), Node("*", (x[0], d[1]))))
    if node.operator == "/":
        top = Node("-", (Node("*", (d[0], x[1])), Node("*", (x[0], d[1]))))
        return Node("/", (top, Node("*", (x[1], x[1]))))
    power = x[1].number
    assert power is not None
    return Node("*", (Node("*", (x[1], Node("**", (x[0], number(power - 1))))), d[0]))


def as_fraction(node: Node) -> tuple[Polynomial, Polynomial] | None:
    """Numerator and denominator polynomials in a, or None for trees with kinks."""
    if node.number is not None:
        return trim([node.number]), (Fraction(1),)
    if node.variable == "a":
        return (Fraction(0), Fraction(1)), (Fraction(1),)
    parts = [as_fraction(o) for o in node.operands if node.operator != "**" or o is node.operands[0]]
    if any(part is None for part in parts):
        return None
    found = [part for part in parts if part is not None]
    if node.operator == "negative":
        return tuple(-c for c in found[0][0]), found[0][1]
    if node.operator == "**":
        power = node.operands[1].number
        assert power is not None
        top, bottom = found[0] if power >= 0 else found[0][::-1]
        result: tuple[Polynomial, Polynomial] = ((Fraction(1),), (Fraction(1),))
        for _ in range(abs(int(power))):
            result = (multiply(result[0], top), multiply(result[1], bottom))
        return result
    if node.operator not in ("+", "-", "*", "/"):
        return None
    (n, d), (m, e) = found
    if node.operator == "*":
        return multiply(n, m), multiply(d, e)
    if node.operator == "/":
        return multiply(n, e), multiply(d, m)
    other = multiply(m, d)
    signed = other if node.operator == "+" else tuple(-c for c in other)
    return add(multiply(n, e), signed), multiply(d, e)


def _power(base: Any, exponent: Any) -> Any:
    return base ** int(exponent)


def _compare(test: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def apply(x: Any, y: Any) -> Any:
        held = test(x, y)
        if isinstance(held, Fractions):
            return held
        return Fraction(int(held)) if isinstance(held, bool) and isinstance(x, Fraction) else held * 1.0

    return apply


def _extreme(name: str) -> Callable[..., Any]:
    def apply(*found: Any) -> Any:
        if all(isinstance(x, Fraction) for x in found):
            return min(found) if name == "min" else max(found)
        if any(isinstance(x, Fractions) for x in found):
            return reduce(larger, found) if name == "max" else -reduce(larger, [-x for x in found])
        import numpy as np

        best = found[0]
        for x in found[1:]:
            best = np.minimum(best, x) if name == "min" else np.maximum(best, x)
        return best

    return apply


_APPLY: dict[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": _power,
    "negative": operator.neg,
    "abs": abs,
    "min": _extreme("min"),
    "max": _extreme("max"),
    "<": _compare(operator.lt),
    "<=": _compare(operator.le),
    ">": _compare(operator.gt),
    ">=": _compare(operator.ge),
    "==": _compare(operator.eq),
    "!=": _compare(operator.ne),
}

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[^\W\d]\w*)"
    r"|(?P<sign>\*\*|<=|>=|==|!=|[-+*/()<>,]))",
    re.ASCII,
)


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str, int]] = []
        position = 0
        while text[position:].strip():
            match = _TOKEN.match(text, position)
            if match is None:
                start = position + len(text[position:]) - len(text[position:].lstrip())
                raise self.refusal(f"the character {text[start]!r}", start)
            kind = match.lastgroup or ""
            self.tokens.append((kind, match[kind], match.start(kind)))
            position = match.end()
        if len(self.tokens) > MOST_TOKENS:
            raise InputError(
                "The payoff expression has too many parts",
                found=f"{len(self.tokens)} numbers, names and signs",
                allowed=f"up to {MOST_TOKENS}",
                remedy="simplify it, or give the payoff as a table",
            )
        self.at = 0
        self.depth = 0

    def refusal(self, found: str, position: int) -> InputError:
        return InputError(
            f"The payoff expression cannot be read at character {position + 1}",
            found=found,
            allowed="numbers, a, omega, + - * / **, comparisons, abs, min, max and parentheses",
            remedy='write it like "-omega/a - 0.1*a", or give the payoff as a table',
        )

    def parse(self) -> Node:
        if not self.tokens:
            raise self.refusal("nothing", 0)
        node = self.comparison()
        if self.at < len(self.tokens):
            _, text, position = self.tokens[self.at]
            raise self.refusal(repr(text), position)
        if node.bits > MOST_BITS:
            raise InputError(
                "The payoff expression computes with numbers that are too long",
                found="high powers or long numbers",
                allowed="powers that multiply to less than 460, numbers of less than 9,000 digits",
                remedy="simplify it, or give the payoff as a table",
            )
        return node

    def take(self, *signs: str) -> str | None:
        if self.at < len(self.tokens) and self.tokens[self.at][0] == "sign" and self.tokens[self.at][1] in signs:
            self.at += 1
            return self.tokens[self.at - 1][1]
        return None

    def comparison(self) -> Node:
        left = self.sum()
        if sign := self.take("<", "<=", ">", ">=", "==", "!="):
            return Node(sign, (left, self.sum()))
        return left

    def sum(self) -> Node:
        node = self.product()
        while sign := self.take("+", "-"):
            node = Node(sign, (node, self.product()))
        return node

    def product(self) -> Node:
        node = self.unary()
        while sign := self.take("*", "/"):
            node = Node(sign, (node, self.unary()))
        return node

    def unary(self) -> Node:
        negative = False
        while sign := self.take("-", "+"):
            negative ^= sign == "-"
        node = self.power()
        return Node("negative", (node,)) if negative else node

    def power(self) -> Node:
        base = self.atom()
        if not self.take("**"):
            return base
        sign = -1 if self.take("-") else 1
        kind, text, position = self.tokens[self.at] if self.at < len(self.tokens) else ("", "nothing", len(self.text))
        if kind != "number" or not text.isdigit() or len(text) > 3 or int(text) > LARGEST_POWER:
            raise InputError(
                f"A power in the payoff expression must be a whole number (character {position + 1})",
                found=text,
                allowed=f"up to {LARGEST_POWER}",
                remedy="write the power as a number such as a**2",
            )
        self.at += 1
        return Node("**", (base, number(sign * int(text))))

    def atom(self) -> Node:
        if self.at >= len(self.tokens):
            raise self.refusal("the end", len(self.text))
        kind, text, position = self.tokens[self.at]
        self.at += 1
        if kind == "number":
            return number(exact(text, "a number in the payoff"))
        if kind == "name":
            return self.named(text, position)
        if text == "(":
            return self.inner()[0]
        raise self.refusal(repr(text), position)

    def named(self, name: str, position: int) -> Node:
        if name in VARIABLES:
            return Node("variable", variable=name)
        if name not in FUNCTIONS:
            near = suggest(name, VARIABLES + FUNCTIONS)
            raise InputError(
                f"The payoff expression uses an unknown name at character {position + 1}",
                found=repr(name),
                allowed=", ".join(VARIABLES + FUNCTIONS),
                remedy=f"did you mean {near}?" if near else "use a for the action and omega for the statistic",
            )
        if not self.take("("):
            raise self.refusal(f"{name} without parentheses", position)
        operands = self.inner()
        if len(operands) != 1 if name == "abs" else len(operands) < 2:
            raise self.refusal(f"{name} of {len(operands)} numbers", position)
        return Node(name, operands)

    def inner(self) -> tuple[Node, ...]:
        self.depth += 1
        if self.depth > DEEPEST:
            raise InputError(
                "The payoff expression is nested too deeply",
                found=f"more than {DEEPEST} levels",
                allowed=f"up to {DEEPEST}",
                remedy="simplify it, or give the payoff as a table",
            )
        operands = [self.comparison()]
        while self.take(","):
            operands.append(self.comparison())
        if not self.take(")"):
            _, text, position = self.tokens[self.at] if self.at < len(self.tokens) else ("", "the end", len(self.text))
            raise self.refusal(f"{text!r} where ')' is expected", position)
        self.depth -= 1
        return tuple(operands)
