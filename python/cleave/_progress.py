"""A bar that shows how a run is doing: that of tqdm where it is installed, else a line of text."""
from __future__ import annotations

import math
import sys
import time
from typing import Any, Callable

__all__ = ["bar"]


def _numbers(progress: dict[str, Any]) -> str:
    text = f"objective {progress['objective']:.6g}"
    return text if math.isnan(progress["certificate"]) else f"{text}, certificate {progress['certificate']:.2g}"


class _Line:
    """One line, written over itself ten times a second in a terminal; where there is none, only the last state of it."""

    def __init__(self, name: str) -> None:
        self.name, self.iterations, self.shown, self.text = name, 0, 0.0, ""

    def show(self, progress: dict[str, Any]) -> None:
        self.iterations += 1
        now = time.monotonic()
        if now - self.shown >= 0.1:
            self.shown, previous = now, len(self.text)
            self.text = f"{self.name}: {self.iterations} iterations, {_numbers(progress)}"
            if sys.stderr.isatty():
                sys.stderr.write("\r" + self.text.ljust(previous))
                sys.stderr.flush()

    def close(self) -> None:
        if self.text:
            sys.stderr.write("\n" if sys.stderr.isatty() else self.text + "\n")


class _Tqdm:
    """The same by tqdm, which knows notebooks."""

    def __init__(self, name: str, tqdm: Any) -> None:
        self.bar = tqdm(desc=name, unit=" iterations")
        self.shown = 0.0

    def show(self, progress: dict[str, Any]) -> None:
        now = time.monotonic()
        if now - self.shown >= 0.1:
            self.shown = now
            self.bar.set_postfix_str(_numbers(progress), refresh=False)
        self.bar.update()

    def close(self) -> None:
        self.bar.close()


def bar(name: str, callback: Callable[[dict[str, Any]], Any] | None) -> tuple[Callable[[dict[str, Any]], Any], Any]:
    """A callback that shows what it sees before it hands it on, and what closes the bar."""
    shown: Any
    try:
        from tqdm.auto import tqdm
        shown = _Tqdm(name, tqdm)
    except ImportError:
        shown = _Line(name)

    def seen(progress: dict[str, Any]) -> Any:
        shown.show(progress)
        return callback is not None and callback(progress)
    return seen, shown.close
