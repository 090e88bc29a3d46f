"""Options: names, defaults and ranges are those of the option tables of the library."""
from __future__ import annotations

import decimal
import math
import numbers
import re
from typing import Any, NamedTuple

from ._library import Context, ffi, lib, text_of

__all__ = ["METHODS", "Option", "Options", "describe", "flags_in_python", "in_python", "method_options", "threads_of"]


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


# What scikit-learn has for flags of the command that are no parameters here.
_ELSEWHERE = {"scale": "StandardScaler", "drop": "VarianceThreshold", "sample_weights": "sample_weight"}


def flags_in_python(text: str, options: dict[str, Option], renamed: dict[str, str], mark: str = "") -> str:
    """A text with the flags of the command (--max-iter 50, -k) as parameters (max_iter=50, n_clusters), between marks."""
    def parameter(found: re.Match[str]) -> str:
        name, value = found["name"].replace("-", "_"), found["value"] or ""
        if name not in options:
            return _ELSEWHERE.get(name, found[0])
        shown, word = renamed.get(name, name), value.strip()
        if word and (word in options[name].choices or word == options[name].word):
            return f"{mark}{shown}={word!r}{mark}"
        if re.fullmatch(r"[-+]?\d[\d.]*(e[-+]?\d+)?", word):
            return f"{mark}{shown}={word}{mark}"
        return f"{mark}{shown}{mark}{value}"

    return re.sub(r"(?<![\w-])--?(?P<name>(?<=--)[a-z][a-z-]*|k\b)(?P<value> [\w+-]+(?:\.\w+)*)?", parameter, text)


def in_python(sentence: str, tables: list[Any], renamed: dict[str, str]) -> str:
    """A sentence of the library with the parameters of Python in place of options: flags, names that have a dash or are one
    letter, and others, which are words too, where something is said of their value."""
    options = {name: option for table in tables for name, option in describe(table).items()}
    sentence = flags_in_python(sentence, options, renamed)
    for name in options:
        found = re.escape(name.replace("_", "-"))
        place = r"(?![\w-])" if "_" in name or len(name) == 1 else r"(?= = |: \d|: label|=)"
        sentence = re.sub(rf"(?<![\w'\0-]){found}{place}", "\0" + name, sentence)  # once, though alpha may stand for lambda
    sentence = re.sub("\0([a-z_]+)", lambda found: renamed.get(found[1], found[1]), sentence)
    sentence = sentence.replace(", or a file", ", or an array")
    return re.sub(r" = '([-+]?\d[\d.]*(?:e[-+]?\d+)?|nan|-?inf)' is ", r" = \1 is ", sentence)


def threads_of(n_jobs: Any) -> Any:
    """As scikit-learn counts: -1 is all, -2 all but one; None: as many as the library takes; the option for all else."""
    if n_jobs is None:
        return 0
    if n_jobs == 0 and isinstance(n_jobs, numbers.Integral):
        raise ValueError(f"n_jobs = {n_jobs!r} is not allowed: it must be a number of threads, -1 for all of them, or None")
    if isinstance(n_jobs, numbers.Integral) and n_jobs < 0:
        return max(1, int(lib.clv_default_threads()) + 1 + int(n_jobs))
    return n_jobs


def _as_text(name: str, value: Any, is_number: bool) -> str:
    if is_number and (isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")
                      or (isinstance(value, str) and re.fullmatch(r"\s*[-+]?[\d.]+(e[-+]?\d+)?\s*", value))):
        raise TypeError(f"{name} = {value!r} (a {type(value).__name__}) is not allowed: it must be a number")
    if isinstance(value, str):
        if "\0" in value:
            raise ValueError(f"{name} = {value!r} is not allowed: embedded null character")
        return value
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, (numbers.Real, decimal.Decimal)):
        return repr(float(value))
    raise TypeError(f"{name} = {value!r} is not allowed: it must be a number or a text, not a {type(value).__name__}")


class Options:
    """A struct of options, as its table says, and what keeps its texts alive."""

    def __init__(self, ctx: Context, table: Any, method: Any = None) -> None:
        self.ctx, self.table = ctx, table
        ctx.tables.append(table)
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
        name = text_of(option.name) or ""
        if option.kind == lib.CLV_OPTION_FLAG:
            if isinstance(value, str) or str(value) not in ("True", "False", "1", "0"):
                raise ValueError(self.ctx.in_python(f"{name} = {value!r} is not allowed: it must be True or False"))
            place = ffi.cast("int *", ffi.cast("char *", self.pointer) + option.offset)
            place[0] = int(bool(value))
            return
        try:
            is_number = option.kind in (lib.CLV_OPTION_INT, lib.CLV_OPTION_REAL)
            text = ffi.new("char[]", _as_text(name, value, is_number).encode())
        except (TypeError, ValueError) as wrong:
            raise type(wrong)(self.ctx.in_python(str(wrong))) from None
        self._texts.append(text)
        self.ctx.check(lib.clv_options_set(self.ctx.pointer, table, self.pointer, option.name, text))
