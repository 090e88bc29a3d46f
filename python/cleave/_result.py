"""Results: everything that a run found, as Python and NumPy objects."""
from __future__ import annotations

import functools
import html
import json
import os
import re
from typing import Any, NamedTuple

import numpy as np

from ._library import Context, ffi, lib, path_of, text_of
from ._matrix import array_of, numbers

__all__ = ["Bound", "Certificate", "Result"]

_STYLE = """
.cleave-result svg{display:block;width:100%;max-width:860px;height:auto;border:1px solid #8884;border-radius:8px}
.cleave-result .grid{stroke:#8884;fill:none} .cleave-result .tick{fill:currentColor;font-size:12px}
.cleave-result .curve{fill:none;stroke:#888;stroke-opacity:.45;stroke-width:1.2}
.cleave-result .best{fill:none;stroke:#2f6fbb;stroke-width:2.4} .cleave-result .end{fill:#2f6fbb}
"""

_COPIED = ("labels", "sizes", "restarts", "trace", "fields")  # of a result, from the library


class Certificate(NamedTuple):
    """What a run proves of its answer: `value <= tolerance` when it holds."""

    name: str
    value: float
    tolerance: float
    holds: bool
    sentence: str


class Bound(NamedTuple):
    """A bound that no answer can pass."""

    name: str
    value: float


def _locked(value: Any) -> Any:
    """What it was: nobody edits an array of a result, as its texts and claims would not follow."""
    for array in (value, getattr(value, "data", None)):
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
    return value


def _field(field: Any) -> Any:
    """The value of a field: a number, a text, an array or a list of texts."""
    if field.kind in (lib.CLV_FIELD_MATRIX, lib.CLV_FIELD_SPARSE):
        return array_of(field.matrix, sparse=field.kind == lib.CLV_FIELD_SPARSE)
    if field.kind == lib.CLV_FIELD_TEXT:
        values: Any = [text_of(field.texts[i]) for i in range(field.count)]
    elif field.kind == lib.CLV_FIELD_INTEGER:
        values = numbers(field.integers, field.count, np.int64)
    else:
        values = numbers(field.reals, field.count, np.float64)
    if field.is_list:
        return values
    return values[0] if isinstance(values, list) else values[0].item()


@functools.lru_cache(maxsize=None)
def _trace_types(names: tuple[str | None, ...]) -> tuple[Any, Any]:
    """The type of a row of the trace, and that of what is kept of it."""
    kinds = ["i8", "i8", "i8"] + ["f8"] * (len(names) - 3)
    listed = [(name or f"unused{i}", kind) for i, (name, kind) in enumerate(zip(names, kinds))]
    return np.dtype(listed), np.dtype([(name, kind) for name, kind in zip(names, kinds) if name])


def _trace(result: Any) -> Any:
    row, kept = _trace_types(("restart", text_of(result.trace_part), "iteration", "seconds", "objective", "certificate",
                              *map(text_of, result.trace_extras)))
    raw, trace = numbers(ffi.cast("char *", result.trace), result.trace_count, row), np.empty(result.trace_count, dtype=kept)
    for name in kept.names:
        trace[name] = raw[name]
    return trace


class Result:
    """What a run found. Attributes of all methods: `method`, `solver`, `labels` (-1: left out), `sizes`, `left_out`,
    `objective`, `certificate`, `bound`, `stop`, `converged`, `n_iter`, `seconds`, `restarts`, `trace`; `fields` has the
    others by name ("centers", "membership", ...), which are attributes too. Lists and arrays are copied from the library
    when they are first asked for."""

    def __init__(self, pointer: Any, method: Any, run: Any) -> None:
        self.method, self.solver = text_of(method.name), ffi.string(pointer.solver).decode()
        self.n, self.k = int(pointer.n), int(pointer.k)
        self.objective = float(pointer.objective.value)
        self.objective_name = text_of(pointer.objective.name)
        certificate = pointer.certificate
        by = lib.clv_method_find(pointer.solver) if method.takes == lib.CLV_TAKES_PARTITIONS else method
        sentence = text_of(lib.clv_certificate_sentence(by, ffi.addressof(pointer, "certificate"))) or ""
        self.certificate = Certificate(text_of(certificate.name) or "", float(certificate.value),
                                       float(certificate.tolerance), bool(certificate.holds), sentence)
        name = text_of(pointer.bound.name)
        self.bound = None if name is None else Bound(name, float(pointer.bound.value))
        self.stop = text_of(lib.clv_stop_name(pointer.stop)) or ""
        self.converged = pointer.stop == lib.CLV_CONVERGED
        self.n_iter, self.seconds = int(pointer.iterations), float(pointer.seconds)
        self.left_out = int(pointer.left_out)
        built = getattr(run, "affinity", None)
        self._affinity = None if built is None else text_of(lib.clv_affinity_kind_name(built.info.kind))  # the kind that was used
        self._pointer = pointer  # what is copied later; it is the run's
        self._run: Any = run  # renders texts; they take its place where a result is pickled
        self._texts: dict[str, str] = {}
        self._lost: str | None = None  # why a text was not to be had when the result was pickled

    @functools.cached_property
    def labels(self) -> Any:
        """The cluster of each object; -1: left out."""
        return None if self._pointer.labels == ffi.NULL else _locked(numbers(self._pointer.labels, self.n, np.int32))

    @functools.cached_property
    def sizes(self) -> Any:
        """The number of objects in each cluster."""
        return None if self._pointer.sizes == ffi.NULL else _locked(numbers(self._pointer.sizes, self.k, np.int64))

    @functools.cached_property
    def restarts(self) -> list[dict[str, Any]]:
        """What each restart came to."""
        return [{"objective": r.objective, "iterations": r.iterations, "seconds": r.seconds, "stop": text_of(lib.clv_stop_name(r.stop))}
                for r in (self._pointer.restarts[i] for i in range(self._pointer.restarts_count))]

    @functools.cached_property
    def trace(self) -> Any:
        """A row for each iteration."""
        return _locked(_trace(self._pointer))

    @functools.cached_property
    def fields(self) -> dict[str, Any]:
        """What this method gives besides, by name."""
        return {text_of(f.name) or "": _locked(_field(f))
                for f in (self._pointer.fields[i] for i in range(self._pointer.fields_count))}

    def _alone(self, name: str, dense: bool = False) -> Any:
        """A copy of one field, without the others; dense: of a sparse matrix as an array. None: there is no such field."""
        if self._pointer is None:
            value: Any = self.fields.get(name)
            return value.toarray() if dense and hasattr(value, "toarray") else value.copy() if hasattr(value, "copy") else value
        field = lib.clv_result_field(self._pointer, name.encode())
        return None if field == ffi.NULL else array_of(field.matrix) if dense else _field(field)

    def _text(self, name: str) -> str:
        if name not in self._texts and self._run is None:
            raise ValueError(self._lost)
        if name not in self._texts:
            self._texts[name] = self._run.report(getattr(lib, "clv_report_" + name), as_it_was=name != "table")
        return self._texts[name]

    def __getstate__(self) -> dict[str, Any]:
        lost, copied = None, {name: getattr(self, name) for name in _COPIED}
        for name in ("json", "table", "html"):
            try:
                self._text(name)
            except ValueError as changed:  # what needs X as it was, and may never be asked for
                if self._run.predicts_by_points:
                    raise
                lost = str(changed)
        return {**self.__dict__, **copied, "_pointer": None, "_run": None, "_lost": lost}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for value in (self.labels, self.sizes, self.trace, *self.fields.values()):
            _locked(value)

    def __getattr__(self, name: str) -> Any:
        fields = self.fields if "method" in self.__dict__ else {}  # none yet while it is made
        if name in fields:
            return fields[name]
        raise AttributeError(f"a result of {self.__dict__.get('method')} has no {name!r}; it has {', '.join(map(str, fields))}")

    def __repr__(self) -> str:
        return (f"<cleave {self.method}: {self.objective_name} {self.objective:.6g}, "
                f"{self.certificate.name} {self.certificate.value:.3g} "
                f"({'holds' if self.certificate.holds else 'does not hold'}), {self.stop}>")

    def __str__(self) -> str:
        return self._text("table")

    def _repr_html_(self) -> str:
        """The table, and the curve of convergence out of the page."""
        try:
            page = self._text("html")
        except ValueError:  # X was changed, and the page shows it
            page = ""
        curve = re.search('<svg[^>]*aria-label="(?:objective|certificate) by iteration[^"]*".*?</svg>', page, flags=re.S)
        return (f'<div class="cleave-result"><style>{_STYLE}</style><pre>{html.escape(self._text("table"))}</pre>'
                f'{curve.group() if curve else ""}</div>')

    def to_json(self) -> str:
        """The text that the command writes with --json."""
        return self._text("json")

    def to_dict(self) -> dict[str, Any]:
        """The same as Python objects."""
        found: dict[str, Any] = json.loads(self.to_json())
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the JSON result, which `cleave verify` and `cleave.verify` read; whole or not at all."""
        ctx = Context()
        data = self.to_json().encode()
        ctx.check(lib.clv_write_text(ctx.pointer, path_of(path), data, len(data)))
