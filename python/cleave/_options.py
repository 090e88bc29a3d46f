"""Options: names, defaults and ranges are those of the option tables of the library."""
from __future__ import annotations

import decimal
import math
import numbers
from typing import Any, NamedTuple

from ._library import Context, ffi, lib, text_of

__all__ = ["METHODS", "Option", "Options", "describe", "method_options"]


class Option(NamedTuple):
    """One option as a table describes it."""

    name: str  # as a Python keyword: max_iter
    kind: str  # int, real, flag, choice, bytes, text
    default: Any
    choices: list[str]
    help: str
    word: str | None  # allowed beside numbers: auto, all, none
    meta: str | None  # what stands for the value in the help


_KINDS = {lib.CLV_OPTION_INT: "int", lib.CLV_OPTION_REAL: "real", lib.CLV_OPTION_FLAG: "flag",
          lib.CLV_OPTION_CHOICE: "choice", lib.CLV_OPTION_BYTES: "bytes", lib.CLV_OPTION_TEXT: "text"}


def _default(option: Any, kind: str, choices: list[str]) -> Any:
    word, initial = text_of(option.word), option.initial
    if kind == "text":
        return text_of(option.choices)
    if word is not None and (math.isnan(initial) or initial == option.word_value):
        return word
    if kind == "choice":
        return choices[int(initial)]
    if kind == "flag":
        return bool(initial)
    return float(initial) if kind == "real" else int(initial)


def describe(table: Any) -> dict[str, Option]:
    """All options of a table, by name."""
    found = {}
    for i in range(table.count):
        option = table.options[i]
        name, kind = text_of(option.name), _KINDS[option.kind]
        assert name is not None
        choices = (text_of(option.choices) or "").split("|") if kind == "choice" else []
        keyword = name.replace("-", "_")
        found[keyword] = Option(keyword, kind, _default(option, kind, choices), choices, text_of(option.help) or "",
                                text_of(option.word), text_of(option.meta))
    return found


def _methods() -> dict[str, Any]:
    count = ffi.new("size_t *")
    listed = lib.clv_methods(count)
    return {text_of(listed[i].name) or "": listed[i] for i in range(count[0])}


METHODS = _methods()  # the descriptions of all methods, by name


def method_options(name: str) -> dict[str, Option]:
    """All options of a run: those of the method, of its affinity where it takes one, and of every run."""
    method = METHODS[name]
    found = describe(method.options)
    if method.takes == lib.CLV_TAKES_AFFINITY:
        found.update(describe(lib.clv_affinity_table()))
    found.update(describe(lib.clv_control_table()))
    return found


def _as_text(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, (numbers.Real, decimal.Decimal)):
        return repr(float(value))
    raise TypeError(f"{name} must be a number or a text, not {type(value).__name__}: {value!r}")


class Options:
    """A struct of options, as its table says, and what keeps its texts alive."""

    def __init__(self, ctx: Context, table: Any, method: Any = None) -> None:
        self.ctx, self.table = ctx, table
        self.memory = ffi.new("char[]", table.size)
        self.pointer = ffi.cast("void *", self.memory)
        if method is None:
            lib.clv_options_init(table, self.pointer, table.size)
        else:
            lib.clv_method_defaults(method, self.pointer, table.size)
        self._texts: list[Any] = []

    def set(self, name: str, value: Any) -> None:
        """None leaves the default."""
        option = lib.clv_options_find(self.table, name.replace("_", "-").encode())
        if option == ffi.NULL:
            raise TypeError(f"{text_of(self.table.title)} has no option {name!r}")
        self.put(option, value, self.table)

    def put(self, option: Any, value: Any, table: Any) -> None:
        """The same for an option that was found in a table of this struct."""
        if value is None:
            return
        if option.kind == lib.CLV_OPTION_FLAG:
            place = ffi.cast("int *", ffi.cast("char *", self.pointer) + option.offset)
            place[0] = int(bool(value))
            return
        text = ffi.new("char[]", _as_text((text_of(option.name) or "").replace("-", "_"), value).encode())
        self._texts.append(text)
        self.ctx.check(lib.clv_options_set(self.ctx.pointer, table, self.pointer, option.name, text))
