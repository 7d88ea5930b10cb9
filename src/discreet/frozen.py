"""Frozen dataclasses that cost next to nothing until they are used.

The standard decorator compiles six methods for every class, 0.2 to 0.4 ms in all, and one design loads a hundred classes of which
it makes half. This one finds the fields the standard way and compiles `__init__` alone, when it is first looked up; comparing,
hashing, showing and refusing to change are ordinary functions. A class behaves as with the standard decorator, to which all is left
that is not frozen or extends another dataclass.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError
from operator import attrgetter
from reprlib import recursive_repr
from types import MethodType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, eq=True, repr=True, kw_only=False, **others):
        """The decorator of the standard library, for a frozen class without compiling what nobody calls."""

        def decorated(cls: type) -> type:
            extends = any(hasattr(base, "__dataclass_fields__") for base in cls.__mro__[1:])
            if not frozen or others or extends:
                return dataclasses.dataclass(cls, frozen=frozen, eq=eq, repr=repr, kw_only=kw_only, **others)
            return _frozen(cls, eq=eq, shown=repr, kw_only=kw_only)

        return decorated if cls is None else decorated(cls)


def _frozen(cls: type, *, eq: bool, shown: bool, kw_only: bool) -> type:
    own = dict(vars(cls))
    if "__setattr__" in own or "__delattr__" in own:
        raise TypeError(f"{cls.__name__} says itself what may be changed, so it cannot be frozen")
    dataclasses.dataclass(cls, init=False, repr=False, eq=False, kw_only=kw_only)
    cls.__dataclass_params__.frozen = True  # type: ignore[attr-defined]
    fields = dataclasses.fields(cls)
    methods: dict[str, Any] = {"__init__": _Initialiser(cls), **_refusals(cls, {field.name for field in fields})}
    if shown:
        methods["__repr__"] = _shown([field.name for field in fields if field.repr])
    if eq:
        methods["__eq__"] = _compared(_values([field.name for field in fields if field.compare]))
        hashed = _values([field.name for field in fields if (field.compare if field.hash is None else field.hash)])
        methods["__hash__"] = lambda self: hash(hashed(self))
        if own.get("__hash__", MISSING) is None and "__eq__" in own:  # Python's own doing, not the class's
            del own["__hash__"]
    for name, method in methods.items():
        if name not in own:
            setattr(cls, name, method)
    return cls


class _New:
    """Stands for what is made anew each time, where a default is shown."""

    def __repr__(self) -> str:
        return "<factory>"


NEW = _New()


class _Initialiser:
    """`__init__` of a class: compiled when it is first looked up, and put in this one's place."""

    def __init__(self, cls: type) -> None:
        self.cls = cls

    def __get__(self, instance: object, owner: type) -> Any:
        made = _compiled(self.cls)
        self.cls.__init__ = made  # type: ignore[misc]
        return made if instance is None else MethodType(made, instance)


def _compiled(cls: type) -> Callable[..., None]:
    fields = dataclasses.fields(cls)
    names: dict[str, Any] = {"_set": object.__setattr__, "_NEW": NEW}
    plain: list[str] = []
    named: list[str] = []
    body: list[str] = []
    for field in fields:
        value = field.name
        if field.default_factory is not MISSING:
            names[f"_new_{field.name}"] = field.default_factory
            value = f"_new_{field.name}()" + (f" if {field.name} is _NEW else {field.name}" if field.init else "")
        if field.init:
            (named if field.kw_only else plain).append(_parameter(field, names))
        if field.init or field.default_factory is not MISSING:  # what is left has a default, which stands in the class
            body.append(f" _set(self, {field.name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        body.append(" self.__post_init__()")
    parameters = ["self", *plain, *(["*", *named] if named else [])]
    lines = [f"def __init__({', '.join(parameters)}):", *body, " return None"]
    exec("\n".join(lines), names)  # noqa: S102 (of names of fields alone, as the standard decorator does)
    made: Callable[..., None] = names["__init__"]
    made.__qualname__, made.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    made.__annotations__ = {field.name: field.type for field in fields if field.init} | {"return": None}
    return made


def _parameter(field: Field[Any], names: dict[str, Any]) -> str:
    """How a field stands in the list of parameters; its default is put among the names."""
    if field.default is not MISSING:
        names[f"_default_{field.name}"] = field.default
        return f"{field.name}=_default_{field.name}"
    return field.name if field.default_factory is MISSING else f"{field.name}=_NEW"


def _refusals(cls: Any, fields: set[str]) -> dict[str, Callable[..., None]]:
    """What refuses to change a field; a class made from this one may have attributes besides."""

    def put(self: object, name: str, value: object) -> None:
        if type(self) is cls or name in fields:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def drop(self: object, name: str) -> None:
        if type(self) is cls or name in fields:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return {"__setattr__": put, "__delattr__": drop}


def _values(names: list[str]) -> Callable[[object], tuple[Any, ...]]:
    """The values of these fields as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    only = [attrgetter(name) for name in names]
    return lambda self: tuple(get(self) for get in only)


def _compared(values: Callable[[object], tuple[Any, ...]]) -> Callable[[object, object], bool]:
    def equal(self: object, other: object) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return equal


def _shown(names: list[str]) -> Callable[[object], str]:
    @recursive_repr()
    def show(self: object) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return show
