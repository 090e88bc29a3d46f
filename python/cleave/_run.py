"""Running a method of the library."""
from __future__ import annotations

import os
import threading
import time
from typing import Any, Callable

import numpy as np

from ._library import Context, ffi, lib, path_of, text_of
from ._matrix import View, array_of, as_view, numbers
from ._options import METHODS, Options
from ._result import Result

__all__ = ["Affinity", "Run", "methods"]


def methods() -> list[str]:
    """The names of all methods of the library."""
    return list(METHODS)


def put_field(ctx: Context, pointer: Any, method: Any, name: str, value: Any) -> None:
    """Add a field to a result, by the kind that the method gives it."""
    info = lib.clv_method_gives(method, name.encode())
    if info == ffi.NULL:
        return
    field, kept = ffi.new("clv_field *"), [ffi.new("char[]", name.encode())]
    field.name, field.kind = kept[0], info.kind
    is_matrix = info.kind in (lib.CLV_FIELD_MATRIX, lib.CLV_FIELD_SPARSE)
    field.is_list = int(not is_matrix and isinstance(value, (list, np.ndarray)))
    entries = value if field.is_list else [value]
    field.count = len(entries)
    if is_matrix:
        field.count = 1
        kept.append(as_view(value))
        field.matrix = kept[-1].pointer
    elif info.kind == lib.CLV_FIELD_TEXT:
        texts = [ffi.NULL if text is None else ffi.new("char[]", text.encode()) for text in entries]
        kept += [texts, ffi.new("const char *[]", texts)]
        field.texts = kept[-1]
    elif info.kind == lib.CLV_FIELD_INTEGER:
        kept.append(ffi.new("int64_t[]", [int(entry) for entry in entries]))
        field.integers = kept[-1]
    else:
        kept.append(ffi.new("double[]", [float(entry) for entry in entries]))
        field.reals = kept[-1]
    ctx.check(lib.clv_result_put(pointer, field))


class Affinity:
    """Similarities of objects: of points by a formula, or given. Built once, used by any number of runs in its context."""

    def __init__(self, ctx: Context, points: View, options: Options, pointer: Any = None) -> None:
        self.ctx, self.points, self.options = ctx, points, options
        self.pointer = pointer if pointer is not None else ctx.made(
            lib.clv_affinity_build, "clv_affinity", lib.clv_affinity_free, points.pointer,
            ffi.cast("clv_affinity_options *", options.pointer))
        self.info = ffi.new("clv_affinity_info *")
        lib.clv_affinity_describe(self.pointer, self.info)


class Run:
    """A method on its data: solve, then predict. Kept by an estimator as long as it may predict."""

    def __init__(self, name: str, points: Any, options: dict[str, Any], *,
                 callback: Callable[[dict[str, Any]], Any] | None = None, trace: bool = True,
                 columns: Any = (), renamed: dict[str, str] | None = None, fingerprint: int | None = None,
                 **inputs: Any) -> None:
        self.ctx, self.method, self.trace = Context(), METHODS[name], trace
        self.columns = columns  # their names, if they have any
        for name in columns:
            if "\0" in name:
                raise ValueError(f"the column {name!r} has a null character in its name, where texts of the library end: rename it")
        self.ctx.renamed = renamed or {}
        self.fingerprint = fingerprint  # of points that others may change
        self._lock = threading.Lock()  # a context serves one thread at a time
        self.views: dict[str, View] = {"points": as_view(points)}
        for role, given in inputs.items():  # targets, weights, start: members of clv_input
            if given is not None:
                self.views[role] = as_view(given)
        self.callback = callback
        self.failure: BaseException | None = None
        self.affinity: Affinity | None = None
        self.options = Options(self.ctx, self.method.options, self.method)
        self.ctx.tables.append(lib.clv_control_table())
        self.places = [(self.options, self.method.options), (self.options, lib.clv_control_table())]
        if self.method.takes == lib.CLV_TAKES_AFFINITY:
            self.affinity_options = Options(self.ctx, lib.clv_affinity_table())
            self.places.append((self.affinity_options, lib.clv_affinity_table()))
        for option, value in options.items():
            self._set(option, value)
        for role in self.views:  # where the command writes the name of a file
            if lib.clv_options_find(self.method.options, role.replace("_", "-").encode()) != ffi.NULL:
                self._set(role, "array")
        if not options.get("threads"):
            self._set("threads", int(lib.clv_default_threads()))
        self.pointer: Any = None
        self.k_range: tuple[int, int] | None = None  # least and most, in place of the option k
        self.built_seconds = self.total_seconds = 0.0

    @property
    def threads(self) -> int:
        """The number of threads of this run."""
        return int(ffi.cast("clv_control *", self.options.pointer).threads)

    def _set(self, name: str, value: Any) -> None:
        known = name.replace("_", "-").encode()
        found = False
        for options, table in self.places:
            option = lib.clv_options_find(table, known)
            if option != ffi.NULL:
                options.put(option, value, table)
                found = True
        if not found:
            raise TypeError(f"{text_of(self.method.name)} has no option {name!r}")

    def _input(self) -> Any:
        found = ffi.new("clv_input *")
        if self.affinity is not None:
            found.affinity = self.affinity.pointer
        for role, view in self.views.items():
            if role != "points" or self.affinity is None:
                setattr(found, role, view.pointer)
        return found

    def _watch(self) -> Any:
        """The callback as the library calls it; what it raises ends the run and is raised again."""
        if self.callback is None:
            return ffi.NULL

        @ffi.callback("clv_monitor")  # type: ignore[untyped-decorator, unused-ignore]
        def monitor(progress: Any, user: Any) -> int:
            seen = {name: getattr(progress, name) for name in ("restart", "iteration", "seconds", "objective", "certificate", "best")}
            answers: list[int] = []
            self.ctx.in_caller(lambda: answers.append(self._call(seen)))
            return answers[0] if answers else 1
        return monitor

    def _call(self, progress: dict[str, Any]) -> int:
        try:
            return int(bool(self.callback(progress)))  # type: ignore[misc]
        except BaseException as failure:  # noqa: BLE001 (nothing may pass through C)
            self.failure = failure
            return 1

    def _keep(self, path: Any) -> Any:
        """The writer of checkpoints as the library calls it: files are replaced whole."""
        name, folder = path_of(path), os.path.dirname(os.path.abspath(os.fsdecode(path)))
        if not os.path.isdir(folder):
            raise FileNotFoundError(f"checkpoint = {path!r} cannot be written: there is no folder {folder}")
        if os.path.isdir(path) or not os.access(folder, os.W_OK):
            raise PermissionError(f"checkpoint = {path!r} cannot be written: " + (
                "it is a folder" if os.path.isdir(path) else f"the folder {folder} may not be written to"))

        @ffi.callback("clv_checkpoint_writer")  # type: ignore[untyped-decorator, unused-ignore]
        def write(content: Any, size: int, user: Any) -> int:
            return int(lib.clv_write_text(self.ctx.pointer, name, ffi.cast("const char *", content), size) < 0)
        return write

    def _resume(self, path: Any) -> None:
        with open(path, "rb") as file:
            content = file.read()
        try:
            self.ctx.check(lib.clv_context_resume(self.ctx.pointer, content, len(content)))
        except ValueError as failure:
            raise ValueError(f"{os.fspath(path)}: {failure}") from None

    def build(self) -> None:
        """The affinity, where the method takes one."""
        if self.method.takes == lib.CLV_TAKES_AFFINITY and self.affinity is None:
            how = ffi.cast("clv_affinity_options *", self.affinity_options.pointer)
            self.ctx.check(lib.clv_suit_affinity(self.ctx.pointer, self.method, self.views["points"].pointer,
                                                 self.options.pointer, how))
            self.affinity = Affinity(self.ctx, self.views["points"], self.affinity_options)

    def restore(self, result: Result) -> None:
        """Take a result of an earlier run on these data, to predict with it."""
        self.build()
        labels = None if result.labels is None else np.ascontiguousarray(result.labels, dtype=np.int32).ravel()
        self.pointer = self.ctx.made(lib.clv_result_new, "clv_result", lib.clv_result_free,
                                     0 if labels is None else len(labels), result.k)
        if labels is not None:
            ffi.memmove(self.pointer.labels, labels, labels.nbytes)
        for name, value in result.fields.items():
            put_field(self.ctx, self.pointer, self.method, name, value)

    def solve(self, checkpoint: Any = None, every: float = 60.0, resume: Any = None) -> Result:
        """Run the method. On Ctrl-C `pointer` has the best result so far, and KeyboardInterrupt is raised. With files to keep
        checkpoints in, and to go on from."""
        control = ffi.cast("clv_control *", self.options.pointer)
        for name, path in (("checkpoint", checkpoint), ("resume", resume)):
            if not (path is None or isinstance(path, (str, bytes, os.PathLike)) and os.fspath(path)):
                raise TypeError(f"{name} = {path!r} is not allowed: it must be the path of a file, or None")
        if isinstance(every, bool) or not (isinstance(every, (int, float, np.number)) and 0 <= every <= 1e9):
            raise ValueError(f"checkpoint_every = {every!r} is not allowed: it must be a number from 0 to 1000000000, of seconds")
        if resume is not None:
            self._resume(resume)
        writer = ffi.NULL if checkpoint is None else self._keep(checkpoint)
        lib.clv_context_set_checkpoint(self.ctx.pointer, writer, ffi.NULL, float(every))
        left = control.time_limit - lib.clv_context_spent(self.ctx.pointer)  # clv_solve refuses a limit that is over
        limit = max(left, 1e-9) if control.time_limit > 0 else 0
        lib.clv_context_set_time_limit(self.ctx.pointer, limit)  # of all of it, the affinity included
        began = time.perf_counter()

        def work() -> None:
            function = lib.clv_solve
            if self.k_range is not None:
                self._solve_range(*self.k_range)
                return
            try:
                self.build()
            except TimeoutError:  # labels without similarities, of which nothing is claimed
                function = lib.clv_solve_roughly
            self.built_seconds = time.perf_counter() - began if self.affinity is not None else 0.0
            self.pointer = self.ctx.made(function, "clv_result", lib.clv_result_free, self.method, self._input(),
                                         self.options.pointer)

        monitor = self._watch()
        control.monitor, control.keep_trace = monitor, int(self.trace)
        try:
            self.ctx.apart(work)
        finally:
            self.total_seconds = time.perf_counter() - began
            control.monitor = ffi.NULL
            lib.clv_context_set_time_limit(self.ctx.pointer, 0)
            lib.clv_context_set_checkpoint(self.ctx.pointer, ffi.NULL, ffi.NULL, 0)
            lib.clv_context_resume(self.ctx.pointer, ffi.NULL, 0)
        if self.failure is not None:
            raise self.failure
        return self.result()

    def _solve_range(self, least: int, most: int) -> None:
        """For every k, with the table and the affinity of the one that is taken."""
        how = ffi.NULL
        if self.method.takes == lib.CLV_TAKES_AFFINITY:
            how = ffi.cast("clv_affinity_options *", self.affinity_options.pointer)
        made = []

        def solve(ctx: Any, *arguments: Any) -> int:
            affinity = ffi.new("clv_affinity **")
            status = int(lib.clv_solve_range(ctx, *arguments[:-1], affinity, arguments[-1]))
            made.append(affinity)
            return status

        self.pointer = self.ctx.made(solve, "clv_result", lib.clv_result_free, self.method, self._input(),
                                     self.options.pointer, least, most, how)
        if made[0][0] != ffi.NULL:
            pointer = self.ctx.keep(made[0][0], lib.clv_affinity_free)
            self.affinity = Affinity(self.ctx, self.views["points"], self.affinity_options, pointer)
        self._set("k", int(self.pointer.k))

    def result(self) -> Result:
        """What was found."""
        return Result(self.pointer, self.method, self)

    @property
    def predicts_by_points(self) -> bool:
        """Whether new objects are compared with those of the fit."""
        return bool(self.method.takes == lib.CLV_TAKES_AFFINITY)

    def check_points(self) -> None:
        """Predictions are by the points, and reports tell of them: as they were."""
        if self.fingerprint is not None and self.fingerprint != self.views["points"].fingerprint():
            raise ValueError("X was changed after fit, and this needs it as it was: fit again, or fit to a copy")

    def _data(self) -> Any:
        """The points as data of the library, with the names of their columns; the caller frees it."""
        place, names = ffi.new("clv_data **"), [ffi.new("char[]", name.encode()) for name in self.columns]
        listed = ffi.new("const char *[]", names) if names else ffi.NULL
        self.ctx.check(lib.clv_data_of(self.ctx.pointer, self.views["points"].pointer, listed, place))
        return place[0]

    def report(self, render: Any, as_it_was: bool = True) -> str:
        """The JSON text, the table or the page of the result; as_it_was: it tells of the points."""
        if as_it_was:
            self.check_points()
        tables = [(table, options) for options, table in self.places[:1] + self.places[2:] + self.places[1:2]]
        listed = ffi.new("const clv_option_table *[]", [table for table, _ in tables] + [ffi.NULL])
        structs = ffi.new("const void *[]", [options.pointer for _, options in tables])
        report = ffi.new("clv_report *")
        report.result, report.tables, report.options = self.pointer, listed, structs
        report.scale = scale = ffi.new("char[]", b"none")
        report.affinity_seconds, report.total_seconds = self.built_seconds, self.total_seconds
        if self.affinity is not None:
            report.affinity = self.affinity.info
        text, size = ffi.new("char **"), ffi.new("size_t *")
        with self._lock:
            report.data = self._data()
            try:
                self.ctx.check(render(self.ctx.pointer, report, text, size))
            finally:
                lib.clv_data_free(report.data)
            found = bytes(ffi.buffer(text[0], size[0])).decode()
            lib.clv_release(self.ctx.pointer, text[0])
        del scale
        return found

    def predict(self, points: Any = None, similarities: Any = None) -> tuple[Any, Any]:
        """Labels of new objects, and their memberships where the method gives them."""
        if self.predicts_by_points:
            self.check_points()
        fresh, kept = ffi.new("clv_fresh *"), []
        for role, given in (("points", points), ("similarities", similarities)):
            if given is not None:
                kept.append(as_view(given))
                setattr(fresh, role, kept[-1].pointer)
        with self._lock:
            found = self.ctx.made(lib.clv_predict, "clv_result", lib.clv_result_free, self.method, self._input(),
                                  self.options.pointer, self.pointer, fresh)
            labels = numbers(found.labels, found.n, np.int32)
            matrix = lib.clv_result_matrix(found, b"membership")
            membership = None if matrix == ffi.NULL else array_of(matrix)
            self.ctx.free(found)
        return labels, membership
