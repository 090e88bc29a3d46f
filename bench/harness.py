"""What all benchmarks share: rows, rounds in turn, quartiles, peak memory, versions, tables, the picture.

A row is one piece of work at three sizes. In a round everybody does it once, a process each: cleave with every instruction
set, and every peer, on the same cores and with the same number of threads. The next round begins with another one. Times
are medians with quartiles; the answers of the first round are scored by one function, and a ratio stands only where the
answer of cleave is as good as the peer's. A peer whose answer is marked as worse keeps its time, which is to its advantage.
Peaks are those of whole processes. Before a run as much memory as it may take is touched and given back, so that nobody waits
for the host of a virtual machine to hand it out.
"""

import ctypes
import dataclasses
import importlib
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from importlib import metadata

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
CLEAVE = os.path.join(ROOT, "build/cleave")
DATA = os.environ.get("CLEAVE_DATA", os.path.join(ROOT, "../shared/data"))
FAMILIES = ("affinity", "ncut", "dominant", "symnmf", "kpalm", "ksupport", "features", "host")
PEERS = ("numpy", "scipy", "scikit-learn", "scikit-learn-intelex", "faiss-cpu", "skglm", "celer", "scikit-image")
SETS = ("baseline", "avx2", "avx512")  # from the least to the best
PEER_LIMIT = int(os.environ.get("CLEAVE_BENCH_LIMIT", 60))  # seconds; who takes longer has no time, and is not run again
THREADS = 2  # of bench/RESULTS.md
LOAD_LIMIT = 0.2  # cores that others keep busy, before a row or after it: more is said beside the table

sys.path.append(os.path.join(ROOT, "experiments/common"))
for name in [name for name in os.environ if name.startswith("OPENBLAS_")]:  # a setting of this shell would hold back one side
    del os.environ[name]


@dataclasses.dataclass
class Row:
    """What is timed. Files are in a folder of their own, where both sides run."""

    name: str
    title: str
    sizes: tuple  # from small to large; none: it is timed on one thread and several alone
    make: object  # (size): writes what both sides read
    command: object  # (size): arguments of cleave, which writes ours.npy
    clock: tuple  # the parts of its time that count, by their names in JSON
    peers: dict  # name: generator (data): yields when it is ready to be timed, then its answer
    score: object  # (data, answer): one number, the same function for everybody
    sense: str = "min"  # what is better
    tolerance: float = 1e-6  # how much worse, relatively, is as good
    unit: str = "n"
    scored: str = "objective"
    threads: int = 0  # the size at which it also runs with one thread and several, idle and busy; 0: it does not
    targets: dict = dataclasses.field(default_factory=dict)  # peer or row: its time / ours is to be this, where that is not 1
    limit: str = ""  # why it is slower than a peer where it is, or misses a target
    shared: str = ""  # why it gains little by threads, or loses by them
    program: str = CLEAVE


def load():
    """Arrays of the folder by their names, as the peers get them."""
    found = {}
    for name in sorted(os.listdir(".")):
        stem, ending = os.path.splitext(name)
        if ending == ".npy" and stem not in ("ours", "peer"):
            found[stem] = np.load(name)
        elif ending == ".npz":
            from scipy.sparse import load_npz
            found[stem] = load_npz(name)
    return found


# --- one run: a process, its time, its peak ---

# The kernel counts the parent's memory as the child's until it runs another program, hence a small one in between. It
# ends the other one when its time is over.
WRAPPER = """
import resource, subprocess, sys
try:
    code = subprocess.run(sys.argv[2:], timeout=float(sys.argv[1])).returncode
except subprocess.TimeoutExpired:
    code = 124
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
"""


CORES = {"baseline": "Nehalem", "avx2": "Haswell"}  # what OpenBLAS calls processors that have the set and no more


def blas(isa=None):
    """Settings: OpenBLAS is held to the set that cleave is held to, and told of a processor that it does not know."""
    library = ctypes.CDLL(os.path.join(ROOT, "build/lib/libcleave.so"))
    library.clv_blas_core.restype = ctypes.c_char_p
    core = CORES.get(isa) or (library.clv_blas_core() or b"").decode()
    return {"OPENBLAS_CORETYPE": core} if core else {}


def environment(threads, isa=None):
    """Of a run: every library that has threads is told how many."""
    names = ("OMP", "OPENBLAS", "MKL", "NUMBA", "BLIS", "VECLIB_MAXIMUM")
    given = {f"{name}_NUM_THREADS": str(threads) for name in names}
    held = {"CLEAVE_ISA": isa, **blas(isa)} if isa else {}
    return {**os.environ, **given, "PYTHONPATH": HERE, "PYTHONDONTWRITEBYTECODE": "1", **held}


PEAKS = {}  # the most that a run in a folder has taken


def warm():
    """Touch as much memory as the next run may take, and give it back. A virtual machine gets memory from its host when a page is
    touched, and some return what is free within seconds: that takes longer than the run, and falls on whoever comes first."""
    files = sum(entry.stat().st_size for entry in os.scandir(".") if entry.is_file())
    room = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES") // 2
    child = os.fork()
    if child == 0:
        np.ones(min(max(PEAKS.get(os.getcwd(), 0), files), room), dtype=np.uint8)
        os._exit(0)
    os.waitpid(child, 0)


def run(command, threads, isa=None, limit=1e6, cores=None):
    """Exit code, standard output and peak bytes, on as many cores as threads, or so many."""
    cores = sorted(os.sched_getaffinity(0))[:cores or threads]
    warm()
    done = subprocess.run([sys.executable, "-S", "-c", WRAPPER, str(limit), *map(str, command)], capture_output=True, text=True,
                          env=environment(threads, isa), preexec_fn=lambda: os.sched_setaffinity(0, cores))
    said = done.stderr.splitlines()
    code, peak = map(int, said[-1].split())
    PEAKS[os.getcwd()] = max(PEAKS.get(os.getcwd(), 0), peak * 1024)
    if code not in (0, 77, 124):
        say(f"bench: {' '.join(map(str, command))}: status {code}\n" + "\n".join(said[-4:-1]))
    return code, done.stdout, peak * 1024


class Missing(Exception):
    """No time: why."""


def run_cleave(row, size, threads, isa, cores=None):
    """Seconds that count and the peak; the answer is in ours.npy."""
    code, output, peak = run([row.program, *row.command(size), "--threads", threads, "--json", "-"], threads, isa, cores=cores)
    if code != 0:
        raise Missing(f"status {code}")
    seconds = json.loads(output)["seconds"]
    return sum(seconds[part] for part in row.clock), peak


def run_peer(row, family, peer, threads):
    """The same of a peer; the answer is in peer.npy."""
    program = [sys.executable, os.path.join(HERE, "harness.py"), family, row.name, peer]
    code, output, peak = run(program, threads, limit=PEER_LIMIT + 180)  # it may compile before it is ready
    if code == 77:
        raise Missing("not installed")
    if code != 0:
        raise Missing(f"no answer in {os.environ.get('CLEAVE_BENCH_LIMIT', PEER_LIMIT)} s" if code == 124 else f"status {code}")
    return float(output.split()[-1]), peak


def be_peer(family, name, peer):
    """In a process of its own and in the folder of the row: the peer's answer to peer.npy, its seconds to standard output."""
    row = next(row for row in importlib.import_module(family).ROWS if row.name == name)
    work = row.peers[peer](load())
    try:
        next(work)
    except ImportError as error:
        print(error, file=sys.stderr)
        sys.exit(77)
    signal.signal(signal.SIGALRM, lambda *_: os._exit(124))
    signal.alarm(PEER_LIMIT)
    began = time.perf_counter()
    answer = next(work)
    seconds = time.perf_counter() - began
    signal.alarm(0)
    np.save("peer.npy", answer)
    print(seconds)


# --- a row ---


@dataclasses.dataclass
class Side:
    """What came of cleave with one instruction set, or of one peer."""

    name: str
    isa: str = ""
    seconds: list = dataclasses.field(default_factory=list)
    peak: int = 0
    value: float = None
    missing: str = ""

    @property
    def median(self):
        return statistics.median(self.seconds)

    def shown(self):
        """0.123 (0.120 to 0.131)"""
        return spread_of(self.seconds) if self.seconds else self.missing


def spread_of(values):
    """Median and quartiles."""
    if len(values) < 2:
        return f"{values[0]:.4g}"
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return f"{statistics.median(values):.4g} ({low:.4g} to {high:.4g})"


def as_good(row, ours, theirs):
    """Whether a value is no worse than another one."""
    worse = ours - theirs if row.sense == "min" else theirs - ours
    return worse <= row.tolerance * max(abs(ours), abs(theirs))


def measure(row, family, size, sets, threads, rounds, given_up):
    """All sides of a row at one size, in turn; who has no time at a smaller one has none here."""
    row.make(size)
    sides = [Side("cleave", isa) for isa in sets] + [Side(peer, missing=given_up.get(peer, "")) for peer in row.peers]
    for turn in range(rounds):
        for side in sides[turn % len(sides):] + sides[:turn % len(sides)]:
            if side.missing:
                continue
            try:
                seconds, peak = run_cleave(row, size, threads, side.isa) if side.isa else run_peer(row, family, side.name, threads)
            except Missing as reason:
                side.missing, side.seconds, given_up[side.name] = str(reason), [], str(reason)
                continue
            side.seconds.append(seconds)
            side.peak = max(side.peak, peak)
            if side.value is None:
                side.value = float(row.score(load(), np.load("ours.npy" if side.isa else "peer.npy")))
    return sides


def ratio(row, ours, peer):
    """Their median time by ours; None where there is none, or where our answer is not as good."""
    counts = ours.seconds and peer.seconds and as_good(row, ours.value, peer.value)
    return peer.median / ours.median if counts else None


def row_table(row, found, sets):
    """Lines of Markdown: a table of one row."""
    head = [row.unit, "who", "seconds", "growth", *(f"its time / cleave {isa}" for isa in sets), "peak MiB", row.scored]
    lines, before = [head, ["---"] * len(head)], {}
    for size, sides in found.items():
        ours = {side.isa: side for side in sides if side.isa}
        for side in sides:
            key = side.name + side.isa
            growth = f"{side.median / before[key]:.2f}x" if side.seconds and key in before else ""
            if side.seconds:
                before[key] = side.median
            ratios, note = ["" if side.isa else "-"] * len(sets), ""
            if side.seconds and not side.isa:
                found_ratios = [ratio(row, ours[isa], side) for isa in sets]
                ratios = [f"{value:.2f}" if value else "not as good" for value in found_ratios]
                best = ours[sets[-1]].value
                note = "" if best is None or as_good(row, side.value, best) else " (worse)"
            lines.append([str(size), f"{side.name} {side.isa}".strip(), side.shown(), growth, *ratios,
                          f"{side.peak / 2**20:.0f}" if side.seconds else "", f"{side.value:.7g}{note}" if side.seconds else ""])
    return markdown(lines)


def markdown(lines):
    """A table."""
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


# --- threads ---


def thread_runs(row, size, isa, threads, rounds):
    """{(threads, busy): seconds}, in turn; busy: beside one process per core that never rests."""
    row.make(size)
    times = {(count, busy): [] for busy in (False, True) for count in (1, threads)}
    for _ in range(rounds):
        for busy in (False, True):
            others = [subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) for _ in range(os.cpu_count() * busy)]
            try:
                for count in (1, threads):
                    times[count, busy].append(run_cleave(row, size, count, isa, os.cpu_count())[0])
            finally:
                for other in others:
                    other.kill()
                    other.wait()
    return times


def thread_line(row, quick, isa, threads, rounds):
    """A method on one thread and on several, alone and beside others that want the cores too."""
    size = min(row.sizes, default=row.threads) if quick else row.threads
    with Folder():
        times = thread_runs(row, size, isa, threads, rounds)
    middle = {key: statistics.median(values) for key, values in times.items()}
    speed, harm = middle[1, False] / middle[threads, False], middle[threads, True] / middle[1, True]
    say(f"threads, {row.name}: speed-up {speed:.2f}, busy {harm:.2f}")
    return [row.name, str(size), spread_of(times[1, False]), spread_of(times[threads, False]), f"{speed:.2f}x",
            spread_of(times[1, True]), spread_of(times[threads, True]), f"{harm:.2f}"]


def thread_table(measured, parts, isa, threads):
    """One line per method; before them, how they were measured where that differs from the others."""
    notes = {}
    for part in measured:
        notes.setdefault(parts.differs(part).strip(), []).append(part["found"][0])
    said = [f"- {', '.join(names)}: {note}\n" for note, names in notes.items() if note]
    head = ["row", "size", "1 thread, idle", f"{threads} threads, idle", "speed-up", "1 thread, busy", f"{threads} threads, busy",
            f"{threads} / 1, busy"]
    return (f"Set {isa}. Targets: idle, a speed-up of {SPEED_UP} or more on 2 threads; busy (one process per core that never rests "
            f"beside it), {threads} threads take at most {HARM:.2f} of the time of one.\n\n" + "".join([*said, "\n"] if said else []) +
            markdown([head, ["---"] * 8, *(part["found"] for part in measured)]))


# --- what is behind ---

SPEED_UP, HARM = 1.6, 1.10  # of two threads: at least, idle; at most, busy
NO_REASON = "**No reason is given.**"  # a test finds it in bench/RESULTS.md


def slow_at(row, size, sides, others):
    """Whom it does not reach at one size, by how much, with which sets; others: {row: what was found at each size}."""
    ours = {side.isa: side for side in sides if side.isa}
    rivals = [(side.name, {isa: ratio(row, own, side) for isa, own in ours.items()}) for side in sides if not side.isa and side.seconds]
    rivals += [(other, {side.isa: side.median / ours[side.isa].median for side in others[other][size]
                        if side.isa and side.seconds and ours[side.isa].seconds})
               for other in row.targets if size in others.get(other, {})]
    for name, values in rivals:
        aim = row.targets.get(name, 1)
        worse = [isa for isa, value in values.items() if value is None]
        slow = [f"{value:.2f} ({isa})" for isa, value in values.items() if value is not None and value < aim]
        if worse:
            yield f"at {size} its answer is not as good as that of {name} ({', '.join(worse)})"
        if slow:
            yield f"at {size} {name} takes {', '.join(slow)} of its time" + (f", with an aim of {aim:g}" if aim != 1 else "")


def behind(rows, results, lines):
    """Every row that with some set is slower than a peer, has a worse answer or misses a target, also of threads; and why."""
    others = {row.name: found for row, found, _ in results}
    missed = [(row.name, row.limit, [words for size, sides in found.items() for words in slow_at(row, size, sides, others)])
              for row, found, _ in results]
    shared = {row.name: row.shared for row in rows}
    for name, _, _, _, speed, _, _, harm in lines:
        missed.append((f"threads, {name}", shared[name], [f"{speed} on 2 threads, idle"] * (float(speed[:-1]) < SPEED_UP) + [
            f"{harm} of the time of one thread on 2, busy"] * (float(harm) > HARM)))
    said = [f"- {name}: {'; '.join(words)}. {why or NO_REASON}" for name, why, words in missed if words]
    return ("The peers use all that the machine has, also where cleave is held to a lesser set. An aim is a target other than "
            "to be as fast. Ratios of runs under some 20 milliseconds say little: such a run is over when its threads have woken.\n\n" + ("\n".join(said) or "Nothing."))


# --- aims without a peer ---


def aim_names():
    """Of their parts."""
    import aims
    return ["aims-" + aim.name for aim in aims.AIMS]


def measure_aims(parts, chosen, sets):
    """Those that were asked for; each is kept at once. They have one size, which is not quick."""
    import aims
    for aim in aims.AIMS:
        if re.search(chosen.rows, "aims-" + aim.name) and not chosen.quick:
            found = {}
            for isa in sets:
                with Folder():
                    found[isa] = aims.measured(aim, isa, chosen.threads)
                say(f"aims-{aim.name}, {isa}: {found[isa]}")
            parts.keep("aims-" + aim.name, found)


def aims_words(kept, parts, sets):
    """How they were measured where that differs, then their table."""
    import aims
    notes = {}
    for name, part in kept:
        notes.setdefault(parts.differs({**part, "rounds": parts.setting["rounds"]}).strip(), []).append(name[len("aims-"):])
    said = [f"- {', '.join(names)}: {note}\n" for note, names in notes.items() if note]
    return (aims.__doc__.split("\n")[0] + " Bold: missed.\n\n" + "".join([*said, "\n"] if said else []) +
            aims.table({name[len("aims-"):]: part["found"] for name, part in kept}, sets))


# --- roofline ---


def roofline_table(rounds):
    """The kernels of every set that the machine has, as shares of what it can do."""
    output = subprocess.run([os.path.join(ROOT, "build/bench/roofline"), str(rounds)], capture_output=True, text=True, check=True,
                            env={**os.environ, **blas()})
    limits, rates = {}, {}
    for line in output.stdout.splitlines():
        name, kind, isa, rate, limit = line.split("\t")
        if isa == "machine":
            limits[name] = max(limits.get(name, 0), float(rate))
        else:
            rates.setdefault((name, kind, limit), {})[isa] = float(rate)
    sets = [isa for isa in SETS if any(isa in by_set for by_set in rates.values())]
    lines = [["kernel", "type", "against", *sets], ["---"] * (3 + len(sets))]
    for (name, kind, limit), by_set in rates.items():
        unit = "GB/s" if limit == "read" else "Gflop/s"
        lines.append([name, kind, limit, *(f"{by_set[isa]:.1f} {unit}, {by_set[isa] / limits[limit]:.2f}" for isa in sets)])
    return (f"One thread. Streaming read {limits['read']:.1f} GB/s, dgemm {limits['dgemm']:.1f} and sgemm "
            f"{limits['sgemm']:.1f} Gflop/s (OpenBLAS, in the same run); the second number of a cell is the share of it. Kernels "
            "whose data are in the caches can exceed the read, and those whose tiles fit the registers better than those of "
            "OpenBLAS its product; exponentials count 30 operations an entry.\n\n" + markdown(lines))


def stack_words():
    """Which inner loops use the stack, and what for; nothing where the machine code cannot be read."""
    output = subprocess.run([os.path.join(HERE, "stack"), os.path.join(ROOT, "build")], capture_output=True, text=True)
    return "" if output.returncode else (
        "\n\nInnermost loops that move vector registers to or from the stack, by their machine code (`bench/stack`). One or two moves are a "
        "constant that is multiplied from its place, or a vector whose numbers are then taken one by one. transpose_tile, loosen and the loops of "
        "nearest that are that short write out what the loop before them has found. project: a step of Newton's method for four rows side by side "
        "holds more numbers than there are registers, far more than 16, a few more than 32; row by row, each step would wait for the one before. "
        "steepest with baseline: the values and places of two extremes, in vectors of 16 bytes, are more than 16 registers.\n\n```\n" + output.stdout.strip() + "\n```")


# --- the picture ---

COLORS = {"baseline": "#999999", "avx2": "#0072b2", "avx512": "#d55e00"}


def picture(results, sets, title):
    """Ratios as dots on a logarithmic axis, a line per row, size and peer: right of 1, cleave is faster."""
    import charts
    bars = [(f"{row.name}, {size}: {side.name}", {ours.isa: ratio(row, ours, side) for ours in sides if ours.isa})
            for row, found in results for size, sides in found.items() for side in sides if not side.isa and side.seconds]
    left, width, step, top = 430, 500, 15, 60
    powers = [np.log10(value) for _, by_set in bars for value in by_set.values() if value]
    low, high = min([-1, *powers]), max([1, *powers])

    def place(value):
        return left + width * (np.log10(value) - low) / (high - low)

    bottom = top + step * len(bars)
    parts = [charts.text(10, 20, title), charts.text(10, 38, "time of the peer / time of cleave")]
    for s, isa in enumerate(sets):
        parts += [charts.dot(left + 90 * s, 34, COLORS[isa], 4), charts.text(left + 90 * s + 8, 38, isa)]
    for power in range(int(np.ceil(low)), int(high) + 1):
        x = place(10.0 ** power)
        parts += [charts.line(x, top - 8, x, bottom, "#222" if power == 0 else "#ddd"),
                  charts.text(x, bottom + 14, f"{10.0 ** power:g}", "middle")]
    for b, (label, by_set) in enumerate(bars):
        y = top + step * b
        parts.append(charts.text(left - 10, y + 4, label, "end"))
        for isa, value in by_set.items():
            parts.append(charts.dot(place(value), y, COLORS[isa], 3.5) if value else charts.cross(left + 4, y, COLORS[isa]))
    parts.append(charts.text(10, bottom + 32, "cross: the answer of cleave is not as good, no time counted"))
    return charts.document(left + width + 30, bottom + 44, parts)


# --- the whole ---


class Folder:
    """A folder to work in, gone afterwards."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="cleave-bench-")
        os.chdir(self.folder.name)

    def __exit__(self, *_):
        os.chdir(ROOT)
        self.folder.cleanup()


def say(words):
    """Progress."""
    print(words, file=sys.stderr, flush=True)


def refuse(words):
    """Nothing is measured, and nothing written."""
    say(f"bench: {words}")
    sys.exit(2)


def runnable(isa):
    """Whether the machine has this instruction set."""
    return subprocess.run([CLEAVE, "eval", "--help"], env={**os.environ, "CLEAVE_ISA": isa}, capture_output=True).returncode == 0


def versions():
    """Of everything that is timed."""
    found = [subprocess.run([CLEAVE, "--version"], capture_output=True, text=True, check=True).stdout.strip()]
    sources = ("--", "src", "cli", "include", "cmake", "CMakeLists.txt")  # a report is no change of what it reports on
    revision, changes = (subprocess.run(["git", "-C", ROOT, *words, *sources], capture_output=True, text=True).stdout.strip()
                         for words in (("log", "-1", "--format=%h"), ("status", "--porcelain")))
    found[0] += f" ({revision}{'-dirty' * bool(changes)})" if revision else ""
    for name in PEERS:
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            found.append(f"{name} not installed")
    return ", ".join([*found, f"Python {sys.version.split()[0]}"])


def machine():
    """Processor, cores, memory, load."""
    with open("/proc/cpuinfo") as file:
        model = re.search(r"model name\s*: (.*)", file.read())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{model.group(1) if model else os.uname().machine}, {len(os.sched_getaffinity(0))} cores, {memory:.0f} GiB"


def write(path, words):
    """A whole file."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(words)


def busy_cores(seconds=1):
    """How many cores work while we do not."""
    def idle():
        with open("/proc/stat") as file:
            spent = [int(word) for word in file.readline().split()[1:]]
        return spent[3] + spent[4], sum(spent[:8])
    idle_before, all_before = idle()
    time.sleep(seconds)
    idle_after, all_after = idle()
    return os.cpu_count() * (1 - (idle_after - idle_before) / max(1, all_after - all_before))


class Parts:
    """What was measured, a file each: an interruption loses one part, and a part can be measured again without the others."""

    def __init__(self, chosen, sets):
        # Other sets or threads have a folder of their own: they must not take the place of what the record is made of.
        asked = f"-{'-'.join(sets)}-{chosen.threads}" if chosen.isa or chosen.threads != THREADS else ""
        self.folder = os.path.join(ROOT, "build/bench", ("quick" if chosen.quick else "parts") + asked)
        self.setting = {"machine": machine(), "versions": versions(), "sets": sets, "threads": chosen.threads,
                        "rounds": 1 if chosen.quick else chosen.rounds}
        self.quick, self.load = chosen.quick, busy_cores()

    def keep(self, name, found):
        """A part with how and when it was measured, and the load before or after it, whichever is more."""
        before, self.load = self.load, busy_cores()
        part = {"found": found, "day": time.strftime("%Y-%m-%d", time.gmtime()), "load": max(before, self.load), **self.setting}
        write(os.path.join(self.folder, name + ".json"), json.dumps(part))

    def read(self, name):
        """The same, or None: never measured, or on another machine, or with other sets or threads."""
        try:
            with open(os.path.join(self.folder, name + ".json")) as file:
                part = json.load(file)
        except FileNotFoundError:
            return None
        return part if all(part[key] == self.setting[key] for key in ("machine", "sets", "threads")) else None

    def differs(self, part, row=None):
        """Sentences where a part was measured by another cleave, beside others, in fewer rounds, or not at all sizes of a row."""
        said = [] if part["versions"] == self.setting["versions"] else [f"Measured on {part['day']} with {part['versions']}."]
        if part["load"] > LOAD_LIMIT:
            said.append(f"**Other work kept {part['load']:.1f} cores busy: the times say little.**")
        if part["rounds"] != self.setting["rounds"]:
            said.append(f"{part['rounds']} rounds.")
        later = [str(size) for size in row.sizes if str(size) not in part["found"]] if row and not self.quick else []
        if later:
            said.append(f"Not measured yet: {', '.join(later)}.")
        return " ".join(said) + "\n\n" if said else ""


def measure_row(row, family, parts, chosen, sets):
    """A row at all its sizes, kept."""
    found, given_up = {}, {}
    for size in row.sizes[:1] if chosen.quick else row.sizes:
        with Folder():
            found[size] = measure(row, family, size, sets, chosen.threads, parts.setting["rounds"], given_up)
        for side in found[size]:
            say(f"{row.name}, {size}: {side.name} {side.isa}: {side.shown()}, {row.scored} {side.value}")
    parts.keep(row.name, {size: [dataclasses.asdict(side) for side in sides] for size, sides in found.items()})


def results_of(rows, parts):
    """[(row, what was found at each size, sentences of how)] of the rows that were measured."""
    read = [(row, parts.read(row.name)) for row in rows if row.sizes]
    return [(row, {size: [Side(**side) for side in sides] for size, sides in part["found"].items()}, parts.differs(part, row))
            for row, part in read if part]


def place_of(rows, parts, chosen):
    """Where the report goes, and which parts it would lack as bench/RESULTS.md, if it is not to go there for that."""
    record, draft = (os.path.join(ROOT, folder, "bench/RESULTS.md") for folder in ("", "build"))
    wanted = os.path.abspath(chosen.output) if chosen.output else draft if chosen.quick else record
    names = [*(row.name for row in rows if row.sizes), *("threads-" + row.name for row in rows if row.threads), *aim_names(), "roofline"]
    lacking = [name for name in names if not parts.read(name)] if os.path.realpath(wanted) == os.path.realpath(record) else []
    return (draft if lacking else wanted), lacking


def report(rows, parts, chosen, sets):
    """All parts that are there, into a file and ratios.svg beside it; a sentence that says where that is."""
    rounds = parts.setting["rounds"]
    how = "QUICK, once at the smallest size: no figures to believe" if chosen.quick else f"{rounds} rounds, medians and quartiles"
    title = f"Benchmarks, sets {', '.join(sets)}, {chosen.threads} threads: {how}"
    words = [f"# {title}", __doc__.split("\n\n", 1)[1].strip(),
             "Machine: {machine}. Versions: {versions}.".format(**parts.setting), "![ratios](ratios.svg)"]
    results = results_of(rows, parts)
    words += [f"## {row.name}: {row.title}\n\n{note}{row_table(row, found, sets)}" for row, found, note in results]
    threads = [part for part in (parts.read("threads-" + row.name) for row in rows) if part]
    if threads:
        words.append("## threads\n\n" + thread_table(threads, parts, sets[-1], chosen.threads))
    words.append("## behind\n\n" + behind(rows, results, [part["found"] for part in threads]))
    kept = [(name, part) for name, part in ((name, parts.read(name)) for name in aim_names()) if part]
    if kept:
        words.append("## aims\n\n" + aims_words(kept, parts, sets))
    roofline = parts.read("roofline")
    if roofline:
        words.append("## roofline\n\n" + parts.differs(roofline) + roofline["found"])
    path, lacking = place_of(rows, parts, chosen)
    write(path, "\n\n".join(words) + "\n")
    write(os.path.join(os.path.dirname(path), "ratios.svg"), picture([(row, found) for row, found, _ in results], sets, title))
    return f"{path} and ratios.svg beside it" + lacking_words(lacking, parts)


def lacking_words(lacking, parts):
    """Why bench/RESULTS.md is as it was, if it is."""
    some = ", ".join(lacking[:3]) + (f" and {len(lacking) - 3} more" if len(lacking) > 3 else "")
    return f"; bench/RESULTS.md was left alone: in {parts.folder} is no {some} of this machine, these sets and threads" if some else ""


def build():
    """What is measured."""
    subprocess.run(["cmake", "--build", os.path.join(ROOT, "build"), "--target", "cleave_cli", "roofline", "ksupport_bench", "host"], check=True,
                   stdout=sys.stderr)


def sets_of(asked):
    """The instruction sets that were asked for, or all that the machine has, from the least to the best."""
    sets = [isa for isa in SETS if isa in (asked or SETS) and runnable(isa)]
    lacking = [isa for isa in asked or [] if isa not in sets]
    if lacking:
        refuse(f"this machine has no set '{lacking[0]}' of --isa {','.join(asked)}, only {', '.join(filter(runnable, SETS))}")
    return sets


def bench(chosen):
    """Everything that was asked for, a part at a time, each into the report at once."""
    began = time.time()
    if chosen.quick:
        os.environ["CLEAVE_BENCH_LIMIT"] = "10"  # of the peers, which read it
    families = {family: importlib.import_module(family).ROWS for family in FAMILIES}
    rows = [row for of_family in families.values() for row in of_family]
    wanted = [(family, row) for family, of_family in families.items() for row in of_family if re.search(chosen.rows, row.name)]
    others = [*aim_names(), "roofline"]
    if not wanted and not any(re.search(chosen.rows, name) for name in others):
        refuse(f"no row matches '{chosen.rows.pattern}'; the rows are {', '.join([*(row.name for row in rows), *others])}")
    build()
    sets = sets_of(chosen.isa)
    parts = Parts(chosen, sets)
    if re.search(chosen.rows, "roofline"):
        parts.keep("roofline", roofline_table(parts.setting["rounds"]) + stack_words())
    for family, row in wanted:
        if row.sizes:
            measure_row(row, family, parts, chosen, sets)
        if row.threads and chosen.threads > 1:
            line = thread_line(row, chosen.quick, sets[-1], chosen.threads, parts.setting["rounds"])
            parts.keep("threads-" + row.name, line)
        report(rows, parts, chosen, sets)
    measure_aims(parts, chosen, sets)
    where = report(rows, parts, chosen, sets)
    say(f"bench: {time.time() - began:.0f} s: {where}")


if __name__ == "__main__":
    be_peer(*sys.argv[1:])
