"""The C library: found, loaded, and its failures as exceptions."""
from __future__ import annotations

import _thread
import contextlib
import ctypes
import os
import pathlib
import threading
import warnings
from collections.abc import Iterator
from queue import Empty, SimpleQueue
from typing import Any, Callable

from ._binding import ffi

__all__ = ["Context", "ffi", "lib", "path_of", "text_of", "warn_of_isa"]

_MOMENT = 0.05  # seconds
_MACHINE = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")  # bytes of memory


def _load() -> Any:
    """The library in this package, or the one that CLEAVE_LIBRARY names."""
    named = os.environ.get("CLEAVE_LIBRARY")
    places = [named] if named else sorted(map(str, pathlib.Path(__file__).parent.glob("libcleave.*")))
    if not places:
        raise ImportError("cleave was installed without its library; install it again with pip")
    loaded = ffi.dlopen(places[0])
    if not named:
        _suit_blas(loaded, places[0])
    return loaded


def _suit_blas(loaded: Any, place: str) -> None:
    """Let the OpenBLAS of this package, which nobody else uses, look at the processor again, where it did not recognize it."""
    core, repaired = loaded.clv_blas_core(), pathlib.Path(__file__).parent.with_name("cleave.libs").is_dir()
    if core == ffi.NULL or not repaired or "OPENBLAS_CORETYPE" in os.environ:
        return
    blas = ctypes.CDLL(place)  # and what it stands on
    if not (hasattr(blas, "gotoblas_dynamic_quit") and hasattr(blas, "gotoblas_dynamic_init")):
        return
    os.environ["OPENBLAS_CORETYPE"] = ffi.string(core).decode()
    try:
        blas.gotoblas_dynamic_quit()
        blas.gotoblas_dynamic_init()
    finally:
        del os.environ["OPENBLAS_CORETYPE"]


lib = _load()
_BY_FLAG = ffi.addressof(lib, "clv_interrupt_by_flag")


def text_of(pointer: Any) -> str | None:
    """A C string, or None for NULL."""
    return None if pointer == ffi.NULL else ffi.string(pointer).decode()


def warn_of_isa() -> None:
    """For `import cleave`: the library ignores a CLEAVE_ISA that this machine does not have, and whoever set it should know."""
    asked = os.environ.get("CLEAVE_ISA")
    names: list[str] = []
    while name := text_of(lib.clv_isa_name(len(names))):
        names.append(name)
    if asked and asked not in names:
        warnings.warn(f"CLEAVE_ISA={asked}: this machine has {', '.join(names)}; {text_of(lib.clv_isa())} is used", stacklevel=3)


def path_of(path: Any) -> bytes:
    """A path as the library takes it: texts of C end at the first null."""
    found = os.fsencode(path)
    if b"\0" in found:
        raise ValueError(f"embedded null byte in the path {path!r}")
    return found


_EXCEPTIONS: dict[int, type[BaseException]] = {
    lib.CLV_EUSAGE: ValueError,
    lib.CLV_EDATA: ValueError,
    lib.CLV_ENOINPUT: FileNotFoundError,
    lib.CLV_ENOMEM: MemoryError,
    lib.CLV_ECREATE: OSError,
    lib.CLV_EIO: OSError,
    lib.CLV_EINTERRUPTED: KeyboardInterrupt,
    lib.CLV_ETIME: TimeoutError,
}


class _Worker:
    """A thread that is kept for the next run: a new one costs a quarter of a millisecond, most of it in OpenMP and malloc."""

    idle: list[_Worker] = []

    def __init__(self) -> None:
        self.jobs: list[Callable[[_Worker], None]] = []
        self.go = _thread.allocate_lock()
        self.go.acquire()
        _thread.start_new_thread(self._serve, ())

    def _serve(self) -> None:
        while True:
            self.go.acquire()
            self.jobs.pop()(self)  # nothing here may keep the job, and with it its data

    @classmethod
    def take(cls, job: Callable[[_Worker], None]) -> None:
        """Have a worker do the job, which makes the worker idle before it says that it is done."""
        worker = cls.idle.pop() if cls.idle else cls()
        worker.jobs.append(job)
        worker.go.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_Worker.idle.clear)  # where there are no such threads


class Context:
    """A context of the library. What is made in it keeps it alive; it serves one thread at a time."""

    def __init__(self) -> None:
        place = ffi.new("clv_context **")
        if lib.clv_context_new(ffi.NULL, place) < 0:
            raise MemoryError("out of memory")
        self.pointer = place[0]
        self._made: dict[int, tuple[Any, Callable[[Any], None]]] = {}
        self.tables: list[Any] = []  # of the options that messages may be about
        self.renamed: dict[str, str] = {}  # those that have another name in Python
        self._flag = ffi.new("int *")
        self._waits = False  # the main thread, in `apart`
        self._asked: list[Callable[[], Any]] = []  # what that thread is to call
        self._news: SimpleQueue[None] = SimpleQueue()  # wakes it
        self._answers: SimpleQueue[None] = SimpleQueue()  # wakes who asked
        lib.clv_context_set_interrupt(self.pointer, _BY_FLAG, self._flag)

    def __del__(self) -> None:
        made = getattr(self, "_made", {})
        while made:  # the last one first: it may borrow from those before it
            pointer, free = made.popitem()[1]
            free(pointer)
        if hasattr(self, "pointer"):
            lib.clv_context_free(self.pointer)

    def check(self, status: int) -> None:
        """Raise what a status below zero stands for, with the sentence of the library."""
        if status < 0:
            sentence = text_of(lib.clv_message(self.pointer)) or "out of memory"
            raise _EXCEPTIONS.get(status, RuntimeError)(self.in_python(sentence))

    def in_python(self, sentence: str) -> str:
        """What the library says, which names options as the command does, with the parameters of Python."""
        from ._options import in_python
        return in_python(sentence, self.tables, self.renamed).replace(" (--memory)", "")  # where no parameter is called so

    def interrupt(self) -> None:
        """Make the call that is under way stop, from any thread."""
        self._flag[0] = 1

    def call(self, function: Callable[..., int], *arguments: Any) -> None:
        """Call a function that may take long. The global lock is free meanwhile, and Ctrl-C makes it stop (`apart`)."""
        self.check(self.apart(lambda: function(self.pointer, *arguments)))

    @contextlib.contextmanager
    def reading(self, memory: int = 0) -> Iterator[None]:
        """While a file is read, which may claim any size or unpack to it, no more than so many bytes are held; unless given,
        three quarters of the memory of the machine, as of the command."""
        lib.clv_context_set_memory_limit(self.pointer, memory if memory > 0 else _MACHINE // 4 * 3)
        try:
            yield
        finally:
            lib.clv_context_set_memory_limit(self.pointer, 0)

    def apart(self, work: Callable[[], Any]) -> Any:
        """What `work` returns. In the main thread Ctrl-C, and whatever else a signal handler raises, makes its calls stop
        with what they have, and is raised then. Python runs signal handlers in the main thread only, and between its
        own instructions: that thread waits, and another one works. It waits for a moment at a time, as other packages
        (Polars is one) take signals in a way that does not end a wait; and does what `in_caller` asks it for."""
        if _thread.get_ident() != threading.main_thread().ident:
            return work()
        outcome: list[tuple[Any, BaseException | None]] = []
        claim, news = _thread.allocate_lock(), self._news

        def begin(worker: _Worker) -> None:
            first = claim.acquire(False)  # a signal may come between the beginning and the note of it
            found: tuple[Any, BaseException | None] = None, None
            try:
                found = (work(), None) if first else found
            except BaseException as failure:  # noqa: BLE001 (raised by the thread that waits)
                found = None, failure
            _Worker.idle.append(worker)
            if first:
                outcome.append(found)
                news.put(None)

        raised: BaseException | None = None
        begun, self._waits = False, True
        while not outcome:  # a signal may come between any two steps: what there is to do is seen in the lists alone
            try:
                if not begun:
                    _Worker.take(begin)
                    begun = True
                if self._asked:
                    if raised is None:
                        self._asked[0]()
                    del self._asked[0]
                    self._answers.put(None)
                else:
                    news.get(timeout=_MOMENT)
            except Empty:
                pass
            except BaseException as reason:  # noqa: BLE001 (raised below)
                if not begun and isinstance(reason, RuntimeError):
                    raise  # no thread can be started
                raised = reason
                self.interrupt()
        self._flag[0], self._waits = 0, False
        returned, failure = outcome[0]
        if raised is not None:
            raise raised
        if failure is not None:
            raise failure
        return returned

    def in_caller(self, function: Callable[[], Any]) -> None:
        """Call a function of Python from within a call of the library: in the main thread, where that waits for the call, so
        that Ctrl-C ends the function as it ends all else there. After Ctrl-C it is not called."""
        if not self._waits:
            function()
            return
        self._asked.append(function)
        self._news.put(None)
        while function in self._asked:
            with contextlib.suppress(Empty):
                self._answers.get(timeout=_MOMENT)

    def made(self, function: Callable[..., int], kind: str, free: Callable[[Any], None], *arguments: Any) -> Any:
        """What a function writes to its last argument; freed with the context, or before by `free`."""
        place = ffi.new(kind + " **")
        try:
            self.call(function, *arguments, place)
        finally:  # also of a call that was interrupted
            if place[0] != ffi.NULL:
                self._made[int(ffi.cast("intptr_t", place[0]))] = (place[0], free)
        return place[0]

    def keep(self, made: Any, free: Callable[[Any], None]) -> Any:
        """Something that another call made, freed with the context."""
        self._made[int(ffi.cast("intptr_t", made))] = (made, free)
        return made

    def free(self, made: Any) -> None:
        """Free what was made before the context goes."""
        pointer, free = self._made.pop(int(ffi.cast("intptr_t", made)))
        free(pointer)
