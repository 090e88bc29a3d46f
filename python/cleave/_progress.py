"""A bar that shows how a run is doing: that of tqdm where it is installed, else a line of text."""
from __future__ import annotations

import math
import sys
import time
from typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    from ._result import Result

__all__ = ["bar"]


def _numbers(objective: float, certificate: float) -> str:
    text = f"objective {objective:.6g}"
    return text if math.isnan(certificate) else f"{text}, certificate {certificate:.2g}"


class _Line:
    """One line, written over itself in a terminal; where there is none, only the last state of it."""

    def __init__(self, name: str) -> None:
        self.name, self.iterations, self.written = name, 0, 0

    def count(self) -> None:
        self.iterations += 1

    def show(self, numbers: str, last: bool = False) -> None:
        text, terminal = ", ".join([f"{self.name}: {self.iterations} iterations", *filter(None, [numbers])]), sys.stderr.isatty()
        if terminal:
            sys.stderr.write("\r" + text.ljust(self.written))
        elif last:
            sys.stderr.write(text)
        self.written = len(text)
        sys.stderr.write("\n" if last else "")
        sys.stderr.flush()


class _Tqdm:
    """The same by tqdm, which knows notebooks."""

    def __init__(self, name: str, tqdm: Any) -> None:
        self.bar = tqdm(desc=name, unit=" iterations")

    def count(self) -> None:
        self.bar.update()

    def show(self, numbers: str, last: bool = False) -> None:
        self.bar.set_postfix_str(numbers, refresh=False)
        if last:
            self.bar.close()


def bar(name: str, callback: Callable[[dict[str, Any]], Any] | None) -> tuple[Callable[[dict[str, Any]], Any], Any]:
    """A callback that shows what it sees, ten times a second, before it hands it on; and what closes the bar, which then says
    what the result has."""
    shown: Any
    try:
        from tqdm.auto import tqdm
        shown = _Tqdm(name, tqdm)
    except ImportError:
        shown = _Line(name)
    when, seen_last = 0.0, ""

    def seen(progress: dict[str, Any]) -> Any:
        nonlocal when, seen_last
        seen_last = _numbers(progress["objective"], progress["certificate"])
        shown.count()
        if time.monotonic() - when >= 0.1:
            when = time.monotonic()
            shown.show(seen_last)
        return callback is not None and callback(progress)

    def close(result: Result | None) -> None:
        shown.show(seen_last if result is None else _numbers(result.objective, result.certificate.value), last=True)
    return seen, close
