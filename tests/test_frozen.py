"""Frozen dataclasses: whatever somebody does with a class, it behaves as one of the standard library does."""

from __future__ import annotations

import dataclasses
import inspect
import pickle
import threading
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field
from functools import cached_property, partial
from typing import Any, ClassVar

import pytest

from discreet.frozen import dataclass

Decorator = Callable[..., Any]


def plain(decorate: Decorator) -> Any:
    @decorate(frozen=True)
    class Plain:
        """Three fields."""

        x: int
        y: tuple[int, ...] = ()
        kind: ClassVar[str] = "plain"
        z: str = "z"

    return Plain


def checked(decorate: Decorator) -> Any:
    @decorate(frozen=True)
    class Checked:
        """Validated, with parts that are not compared, shown or given."""

        x: int
        much: list[int] = field(default_factory=list, compare=False)
        hidden: int = field(default=3, repr=False)
        made: int = field(default=7, init=False)
        fresh: list[int] = field(default_factory=list, init=False, hash=False)
        named: int = field(default=1, kw_only=True)

        def __post_init__(self) -> None:
            if self.x < 0:
                raise ValueError("negative")
            object.__setattr__(self, "x", self.x + 0)

        @cached_property
        def twice(self) -> int:
            return 2 * self.x

    return Checked


def single(decorate: Decorator) -> Any:
    @decorate(frozen=True)
    class Single:
        """One field: its value alone is no tuple."""

        x: int

    return Single


def nothing(decorate: Decorator) -> Any:
    @decorate(frozen=True)
    class Nothing:
        """No fields."""

    return Nothing


def by_identity(decorate: Decorator) -> Any:
    @decorate(frozen=True, eq=False, repr=False, kw_only=True)
    class ByIdentity:
        """Neither compared nor shown by its fields."""

        x: int = 0
        y: int

    return ByIdentity


def own_ways(decorate: Decorator) -> Any:
    @decorate(frozen=True)
    class OwnWays:
        """Says itself what is equal and how it looks; hashed by its fields all the same."""

        x: int

        def __eq__(self, other: object) -> bool:
            return True

        def __repr__(self) -> str:
            return "mine"

    return OwnWays


def extended(decorate: Decorator) -> Any:
    @decorate(frozen=True)
    class Base:
        x: int

    @decorate(frozen=True)
    class Extended(Base):
        """One more field."""

        y: int = 2

    return Extended


def further(decorate: Decorator) -> Any:
    base: Any = plain(decorate)

    class Further(base):  # type: ignore[misc]
        """An ordinary class made from a frozen one has attributes of its own."""

        def __init__(self, x: int) -> None:
            super().__init__(x, z="further")
            self.more = 1

    return Further


SHAPES = (plain, checked, single, nothing, by_identity, own_ways, extended, further)
GIVEN: tuple[tuple[tuple[Any, ...], dict[str, Any]], ...] = (
    ((), {}), ((1,), {}), ((1, (2,)), {}), ((-1,), {}), ((2, [3]), {"named": 4}), ((), {"y": 5}), ((1,), {"x": 1}),
    ((1, 2, 3, 4, 5), {}),
)  # fmt: skip


def outcome(of: Callable[[], Any]) -> Any:
    """What comes of it, or how it fails."""
    try:
        return of()
    except Exception as error:
        return type(error), str(error)


def told(cls: Any) -> list[Any]:
    """Everything that is to be the same."""
    facts: list[Any] = [str(inspect.signature(cls)), [f.name for f in dataclasses.fields(cls)], cls.__match_args__]
    for given, named in GIVEN:
        one, two = (outcome(partial(cls, *given, **named)) for _ in range(2))
        facts.append(one if isinstance(one, tuple) else "made")
        if isinstance(one, tuple):
            continue
        facts += [vars(one), one == two, one != two, one == 1, outcome(partial(hash, one)) == outcome(partial(hash, two))]
        if "object at" not in repr(one):
            facts.append(repr(one))
        for name in ("x", "more", "z"):
            facts += [outcome(partial(setattr, one, name, 0)), outcome(partial(delattr, one, name))]
        other = outcome(partial(dataclasses.replace, one, x=9))
        facts += [other if isinstance(other, tuple) else vars(other), getattr(one, "twice", None)]
    return facts


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_a_class_behaves_as_a_standard_one(shape: Callable[[Decorator], Any]) -> None:
    assert told(shape(dataclass)) == told(shape(dataclasses.dataclass))


def test_hashes_are_those_of_a_standard_class() -> None:
    ours, standard = checked(dataclass), checked(dataclasses.dataclass)
    assert hash(ours(1, named=2)) == hash(standard(1, named=2))
    assert isinstance(outcome(lambda: hash(plain(dataclass)(1, [2]))), tuple)  # what cannot be hashed is not


@dataclass(frozen=True)
class Sent:
    """Comes from another process before any was made here."""

    x: int
    y: tuple[int, ...] = ()


def test_what_was_never_made_here_is_whole() -> None:
    sent = pickle.loads(pickle.dumps(object.__new__(Sent)))
    object.__setattr__(sent, "x", 1)
    assert dataclasses.is_dataclass(Sent) and dataclasses.replace(sent, y=(2,)) == Sent(1, (2,))
    with pytest.raises(FrozenInstanceError):
        sent.x = 2
    assert pickle.loads(pickle.dumps(Sent(3))) == Sent(3)


def test_one_that_holds_itself_is_shown() -> None:
    holder: list[Any] = []
    one = plain(dataclass)(holder)
    holder.append(one)
    assert "..." in repr(one)


def test_the_first_of_a_class_may_be_made_by_several_at_once() -> None:
    for _ in range(50):
        cls = plain(dataclass)
        made: list[Any] = []
        ready = threading.Barrier(4)

        def make(cls: Any = cls, ready: threading.Barrier = ready, made: list[Any] = made) -> None:
            ready.wait()
            made.append(cls(1))

        threads = [threading.Thread(target=make) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert made == [cls(1)] * 4


def test_a_class_that_changes_itself_cannot_be_frozen() -> None:
    with pytest.raises(TypeError):

        @dataclass(frozen=True)
        class Changing:
            x: int

            def __setattr__(self, name: str, value: object) -> None: ...
