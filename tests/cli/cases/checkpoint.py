"""--checkpoint and --resume: a killed run goes on and ends with the same result."""
import csv
import json
import os
import random
import re
import resource
import signal
import struct
import subprocess
import time

import harness
from harness import case, check, cleave, extend, npy, read, write

# Long enough to be killed on the way.
COMMANDS = [
    "ncut x.npy -k 6 --restarts 4 --patience 30",
    "ncut x.npy -k 6 --solver finc --patience 60",
    "ncut x.npy -k 6 --solver fcd --start random --patience 60",
    "ncut x.npy -k 2 --solver dinkelbach --patience 60",
    "ncut x.npy -k 6 --solver spectral --patience 60",
    "ncut x.npy -k 6 --affinity knn --patience 200",
    "symnmf x.npy -k 6 --restarts 3 --tol 1e-7",
    "symnmf x.npy -k 6 --solver fw --tol 1e-7 --max-iter 400",
    "symnmf x.npy -k 6 --solver pairwise --tol 1e-7 --max-iter 400",
    "symnmf x.npy -k 6 --solver pgd --tol 1e-7 --max-iter 300",
    "symnmf x.npy -k 6 --solver spg --tol 1e-8 --max-iter 400",
    "symnmf x.npy -k 6 --solver penalty --start random --max-iter 8",
    "kpalm x.npy -k 8 --restarts 30",
    "kpalm x.npy -k 8 --solver lloyd --restarts 60 --start random",
    "kpalm x.npy -k 8 --solver weiszfeld --restarts 5",
    "dominant x.npy -k 8",
    "dominant x.npy -k 8 --solver afw --home computed",
    "dominant x.npy -k 8 --solver fw --max-iter 400",
    "dominant x.npy -k 4 --solver rd --max-iter 300",
    "dominant x.npy -k 8 --multistart 6",
    "ksupport x.npy y.npy -k 3 --solver fcfw --tol 1e-9",
    "ksupport x.npy y.npy -k 3 --solver fista --tol 1e-12 --max-iter 400",
    "ksupport x.npy y.npy -k 3 --solver admm --max-iter 60",
    "ksupport x.npy y.npy -k 3 --solver newton --tol 1e-10",
    "ksupport x.npy y.npy --path 1,2,4:0.1,1,10",
    "pursuit x.npy -k 900 --max-iter 40 --tol 1e-9",
]


def data(n=240, seed=1):
    draw = random.Random(seed)
    npy("x.npy", [[draw.gauss(2.0 * ((i % 5) == f), 1.0) for f in range(6)] for i in range(n)])
    npy("y.npy", [float(i % 3) for i in range(n)])


def timeless(value):
    """Without times, and without what may be another one in a run that goes on."""
    if isinstance(value, dict):
        return {k: timeless(v) for k, v in value.items()
                if "seconds" not in k and k not in ("threads", "time_limit", "time-limit", "max-iter")}
    return [timeless(v) for v in value] if isinstance(value, list) else value


def result(path):
    return timeless(json.loads(read(path)))


def courses(path):
    """The rows of a trace without their times."""
    with open(path, newline="") as file:
        return [{k: v for k, v in row.items() if k != "seconds"} for row in csv.DictReader(file)]


def start(*args):
    return subprocess.Popen([harness.CLEAVE, *map(str, args)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def killed(args, wait):
    """Run it, and kill it a while after it has kept a checkpoint; False: it was over before."""
    before = os.stat("c.ckpt").st_mtime_ns if os.path.exists("c.ckpt") else 0
    process = start(*args)
    while process.poll() is None and not (os.path.exists("c.ckpt") and os.stat("c.ckpt").st_mtime_ns > before):
        time.sleep(0.001)
    time.sleep(wait)
    process.send_signal(signal.SIGKILL)
    return process.wait() == -signal.SIGKILL


@case
def killed_runs_go_on():
    data()
    draw = random.Random(5)
    kills = 0
    for line in COMMANDS:
        command = [*line.split(), "--seed", "3", "-q"]
        cleave(*command, "--threads", "1", "--json", "whole.json")
        keeping = ["--checkpoint", "c.ckpt", "--checkpoint-every", "0"]
        going = []
        for turn in range(3):
            kills += killed([*command, *keeping, *going, "--threads", str(1 + turn)], draw.random() * 0.05)
            going = ["--resume", "c.ckpt"]
        cleave(*command, *going, "--json", "again.json")
        check(result("again.json") == result("whole.json"), f"{line}: another result after it was killed")
        os.remove("c.ckpt")
    check(kills > len(COMMANDS), f"only {kills} runs were killed before they ended")
    check(not [f for f in os.listdir() if "ckpt" in f], "something was left behind")


@case
def every_method_at_several_iterations():
    """From where a limit of iterations ended it, further and further: the limit may grow where nothing follows."""
    data()
    for line in ("ncut x.npy -k 6 --patience 20", "symnmf x.npy -k 6 --solver spg --tol 1e-8", "kpalm x.npy -k 8",
                 "ksupport x.npy y.npy -k 3 --solver fista --tol 1e-9 --loss squares", "pursuit x.npy -k 900 --tol 1e-6"):
        command = [*line.split(), "-q", "--trace", "t.csv"]
        cleave(*command, "--max-iter", "500", "--json", "whole.json")
        trace = courses("t.csv")
        going = []
        for limit in (0, 1, 3, 8, 20, 500):
            cleave(*command, *going, "--max-iter", str(limit), "--checkpoint", "c.ckpt", "--json", "part.json")
            going = ["--resume", "c.ckpt"]
        check(result("part.json") == result("whole.json"), f"{line}: another result in parts")
        check(courses("t.csv") == trace, f"{line}: another trace in parts")
        os.remove("c.ckpt")


@case
def signals_and_time_limits_keep_a_last_one():
    data(n=400)
    command = ["ncut", "x.npy", "-k", "6", "--affinity", "gaussian", "--patience", "400", "--seed", "2"]
    began = time.monotonic()
    cleave(*command, "-q", "--json", "whole.json")
    whole = time.monotonic() - began  # a slow machine takes its time to get to the first iteration
    process = start(*command, "--checkpoint", "c.ckpt")
    time.sleep(0.6 * whole)
    process.send_signal(signal.SIGTERM)
    process.wait()
    check(os.path.exists("c.ckpt"), "no checkpoint after a signal")
    cleave(*command, "-q", "--resume", "c.ckpt", "--json", "again.json")
    check(result("again.json") == result("whole.json"), "another result after a signal")
    going = []
    for limit in (f"{share * whole:.3f}" for share in (0.6, 0.8, 1.6)):
        run = cleave(*command, *going, "--checkpoint", "c2.ckpt", "--time-limit", limit, "--json", "part.json", err="")
        if json.loads(read("part.json"))["stop"] == "time limit":
            check("--resume c2.ckpt and a longer --time-limit" in run.err, f"how to go on is not said: {run}")
        going = ["--resume", "c2.ckpt"]
    cleave(*command, *going, "--time-limit", "0.01", code=64, err="includes the .* seconds that --resume c2.ckpt")
    cleave(*command, "-q", *going, "--json", "again.json")
    check(result("again.json") == result("whole.json"), "another result after time limits")


@case
def a_start_that_was_cut_short_begins_again():
    data(n=4000)
    draw = random.Random(3)
    for name in "abc":  # partitions that hardly agree: many groups, and a run that takes long enough to be cut short
        write(f"{name}.txt", "".join(f"{draw.randrange(8)}\n" for _ in range(4000)))
    for command in (["kpalm", "x.npy", "-k", 60, "--solver", "lloyd"], ["ncut", "x.npy", "-k", 6, "--affinity", "knn", "--max-iter", 20],
                    ["consensus", "a.txt", "b.txt", "c.txt", "-k", 5, "--method", "dominant"],
                    ["consensus", "a.txt", "b.txt", "c.txt", "-k", 5, "--method", "symnmf"]):
        began = time.monotonic()
        cleave(*command, "-q", "--json", "whole.json")
        whole = time.monotonic() - began
        for share in (0.02, 0.05, 0.1, 0.2, 0.3, 0.5):
            if os.path.exists("c.ckpt"):
                os.remove("c.ckpt")
            start(*command, "--checkpoint", "c.ckpt", "--checkpoint-every", 0, "--time-limit", f"{share * whole:.4f}").wait()
            if os.path.exists("c.ckpt"):
                cleave(*command, "-q", "--resume", "c.ckpt", "--json", "again.json")
                check(result("again.json") == result("whole.json"), f"another result after {share} of the time: {command}")


@case
def a_run_without_a_checkpoint_says_so():
    data(n=4000)
    command = ["ncut", "x.npy", "-k", 6, "--affinity", "gaussian", "--checkpoint", "c.ckpt", "--json", "r.json", "--time-limit"]
    for limit in ("0.001", "0.01", "0.05", "0.5"):
        if os.path.exists("c.ckpt"):
            os.remove("c.ckpt")
        run = cleave(*command, limit, err="")
        if json.loads(read("r.json"))["stop"] == "time limit":
            sentence = "to go on from here: .*--resume c.ckpt" if os.path.exists("c.ckpt") else "no checkpoint was written"
            check(re.search(sentence, run.err), f"not told: {run}")
        check(limit != "0.001" or not os.path.exists("c.ckpt"), "a checkpoint in a millisecond: this case tries nothing")


@case
def other_work_is_refused():
    data()
    base = ["kpalm", "x.npy", "-k", "4", "-q"]
    cleave(*base, "--checkpoint", "c.ckpt")
    cleave(*base, "--resume", "c.ckpt", "--threads", "2", "--json", "a.json", "--max-iter", "2000000")
    go = ["--resume", "c.ckpt"]
    cleave("kpalm", "x.npy", "-k", "5", *go, code=65, err="made with k=4, and this run has k=5")
    cleave(*base, "--seed", "4", *go, code=65, err="made with seed=1, and this run has seed=4")
    cleave(*base, "--trace", "t.csv", *go, code=65, err="made with trace=no, and this run has trace=yes")
    cleave(*base, "--max-iter", "5", *go, code=65, err="max-iter = 1000000")
    cleave("ncut", "none.npy", "-k", "4", *go, code=65, err="c.ckpt: the checkpoint is of a run of kpalm, and this is one of ncut")  # at once
    cleave(*base, "--scale", "standard", *go, code=65, err="made on other data")
    cleave("symnmf", "x.npy", "-k", "4", "-q", "--checkpoint", "s.ckpt")  # whose gamma follows from k
    cleave("symnmf", "x.npy", "-k", "5", "--resume", "s.ckpt", code=65, err="made with k=4, and this run has k=5")
    cleave("symnmf", "x.npy", "-k", "4", "--gamma", "3", "--resume", "s.ckpt", code=65, err="this run has gamma=3")
    data(seed=2)
    cleave(*base, *go, code=65, err="made on other data")
    data(n=239)
    cleave(*base, *go, code=65, err="made with rows=240, and this run has rows=239")
    check(not os.path.exists("t.csv"), "a refused run has written something")


@case
def files_that_are_none():
    data()
    base = ["kpalm", "x.npy", "-k", "4", "-q"]
    cleave(*base, "--checkpoint", "c.ckpt")
    whole = read("c.ckpt")
    for name, content in (("empty", b""), ("half", whole[:len(whole) // 2]), ("longer", whole + b"x"), ("text", b"1,2\n" * 9),
                          ("flip", whole[:200] + bytes([whole[200] ^ 1]) + whole[201:])):
        with open(name, "wb") as file:
            file.write(content)
        cleave(*base, "--resume", name, code=65, err=f"{name}: (this is no checkpoint|the checkpoint is damaged)")
    cleave(*base, "--resume", "nowhere", code=66, err="--resume nowhere cannot be read: No such file")
    cleave(*base, "--resume", ".", code=65, err="this is no checkpoint")
    cleave(*base, "--checkpoint-every", "5", code=64, err="--checkpoint-every needs --checkpoint FILE")
    cleave(*base, "--checkpoint", "no/c.ckpt", code=73, err="--checkpoint no/c.ckpt cannot be written")
    cleave(*base, "--checkpoint", "x.npy", code=64, err="--checkpoint x.npy would overwrite the input x.npy")
    cleave(*base, "--checkpoint", "a", "--json", "a", code=64, err="both name a")
    cleave(*base, "--resume", "c.ckpt", "--json", "c.ckpt", code=64, err="would overwrite the input c.ckpt")


# --- forged ones, with the hash that they should have ---

FRONT, TAIL, WORD = 12, 8, (1 << 64) - 1
WIDTHS = {b"d": 8, b"f": 4, b"l": 4, b"i": 8, b"u": 8, b"b": 1}
FORMATS = {b"d": "<d", b"f": "<f", b"l": "<i", b"i": "<q", b"u": "<Q"}


def mixed(h):
    h = (h ^ h >> 32) * 0x9e3779b97f4a7c15 & WORD
    h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9 & WORD
    return h ^ h >> 32


def sealed(body):
    """The file with this content, as src/engine/archive.c hashes it."""
    h = mixed(1 + len(body))
    whole = len(body) // 8 * 8
    for word in (*struct.unpack(f"<{whole // 8}Q", body[:whole]), *body[whole:]):
        h = (h ^ word) * 0x9e3779b97f4a7c15 & WORD
        h ^= h >> 29
    return body + struct.pack("<Q", mixed(h))


def items(data):
    """Kind and content of each; a part that holds items is a list of them."""
    found, at = [], 0
    while at < len(data):
        kind = data[at:at + 1]
        count = struct.unpack_from("<Q", data, at + 1)[0] if kind in WIDTHS and at + 9 <= len(data) else None
        if count is None or at + 9 + count * WIDTHS[kind] > len(data):
            return None
        content = data[at + 9:at + 9 + count * WIDTHS[kind]]
        found.append([kind, (items(content) or content) if kind == b"b" and content else content])
        at += 9 + count * WIDTHS[kind]
    return found


def packed(parts):
    def one(kind, content):
        content = packed(content) if isinstance(content, list) else content
        return kind + struct.pack("<Q", len(content) // WIDTHS[kind]) + content
    return b"".join(one(*part) for part in parts)


def forgeries(parts, top=None):
    """What it is, and all of it with one value changed, one item gone, cut off, twice or said to be longer than everything."""
    top = parts if top is None else top
    for part in parts:
        kind, content = part
        if isinstance(content, list):
            yield from forgeries(content, top)
            continue
        if kind == b"b":
            others = [b"", content + b"x", content[:-1]]
        else:
            values = [0, -1, 1, 7, 1 << 20, (1 << 31) - 1] if kind in b"li" else [0, 1, WORD] if kind == b"u" else \
                [0.0, -1.0, 1e-300, 1e30, float("inf"), float("nan")]
            values += [(1 << 63) - 1, -(1 << 63)] if kind == b"i" else []
            width, others = WIDTHS[kind], [content[:-WIDTHS[kind]], content + content[:WIDTHS[kind]]]
            for at in {0, len(content) // width // 2 * width, len(content) - width} if content else ():
                others += [content[:at] + struct.pack(FORMATS[kind], v) + content[at + width:] for v in values]
        for other in others:
            part[1] = other
            yield packed(top)
        part[1] = content
    for at in range(len(parts)):
        part = parts.pop(at)
        yield packed(top)
        parts.insert(at, part)
        parts.insert(at, part)
        yield packed(top)
        parts.pop(at)


def resumed(line, *more, most=1 << 30):
    """From f.ckpt: a result, or one sentence; in a few seconds and little memory. The exit status."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (30, 30))
    command = [harness.CLEAVE, *line.split(), "-q", "--seed", "3", "--threads", "1", "--resume", "f.ckpt", "--json", "f.json", *more]
    with open("err", "wb") as err:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=err, preexec_fn=limit)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    said = read("err").decode()
    check(process.returncode in (0, 65, 71), f"{line}: exit {process.returncode} of a forged checkpoint: {said}")
    check(process.returncode == 0 or said.count("\n") == 1, f"{line}: {said!r}")
    check(used.ru_maxrss << 10 < most, f"{line}: {used.ru_maxrss} KB for a forged checkpoint")
    return process.returncode


def forge(body):
    with open("f.ckpt", "wb") as file:
        file.write(sealed(body))


FORGED = ["ncut x.npy -k 3", "ncut x.npy -k 3 --solver fcd --start random", "symnmf x.npy -k 3 --solver spg", "symnmf x.npy -k 3", "kpalm x.npy -k 3",
          "dominant x.npy -k 1 --tol 1e-12", "ksupport x.npy y.npy -k 3 --solver fista --loss squares", "ksupport x.npy y.npy -k 2 --solver fcfw --loss squares --tol 1e-12",
          "ksupport x.npy y.npy -k 2 --solver admm --loss squares", "pursuit x.npy -k 90"]


def forge_all(line, share, draw):
    """How many were tried, and how many of these were gone on from."""
    cleave(*line.split(), "-q", "--seed", "3", "--threads", "1", "--checkpoint", "c.ckpt", "--max-iter", "2")
    whole = read("c.ckpt")
    parts = items(whole[FRONT:-TAIL])
    check(parts and sealed(whole[:FRONT] + packed(parts)) == whole, "the items of a checkpoint are not understood")
    tried = taken = 0
    for body in forgeries(parts):
        if draw.random() < share:
            tried += 1
            forge(whole[:FRONT] + body)
            taken += resumed(line, "--max-iter", "30") == 0
    return tried, taken


@case
def forged_in_every_field():
    data(n=30)
    draw = random.Random(9)
    counts = [forge_all(line, float(os.environ.get("CLEAVE_FORGED", "0.02")), draw) for line in FORGED]
    tried, taken = map(sum, zip(*counts))
    check(tried > 30 and 0 < taken < tried, f"{taken} of {tried} were gone on from")


@case
def forged_to_be_huge():
    """Restarts under way, and runs, far more than there are: no time and no memory goes into them."""
    data(n=30)
    line = "kpalm x.npy -k 3"
    cleave(*line.split(), "-q", "--seed", "3", "--checkpoint", "c.ckpt", "--max-iter", "1")
    whole = read("c.ckpt")
    parts = items(whole[FRONT:-TAIL])

    def integer(value):
        return [b"i", struct.pack("<q", value)]
    record = [[b"b", b""], integer(0), [b"b", b""], integer(0), [b"d", struct.pack("<d", 0)], integer(0), [b"b", b""], integer(0)]
    front = parts[:7]  # up to the number of runs
    slots = b"".join(packed([integer(restart), [b"b", b""]]) for restart in range(1, 400001))
    forge(whole[:FRONT] + packed([*front, integer(1), integer(0), *record, integer(400000)]) + slots)
    check(resumed(line, most=300 << 20) in (0, 65), "many restarts under way")
    runs = b"".join(packed([integer(number << 20), *record, integer(0)]) for number in range(2040))
    forge(whole[:FRONT] + packed([*front, integer(2040)]) + runs)
    check(resumed(line, most=300 << 20) == 65, "runs far apart")
    with open("f.ckpt", "wb") as file:
        file.write(whole[:FRONT])
        file.truncate(1 << 30)
    check(resumed(line, "--memory", "100M", most=300 << 20) == 71, "a checkpoint larger than the memory")


@case
def segments():
    values = bytes((37 * x + 11 * y * x) % 251 for y in range(20) for x in range(24))
    header = "{'descr': '|u1', 'fortran_order': False, 'shape': (20, 24), }"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open("p.npy", "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + values)
    base = ["segment", "p.npy", "--superpixels", "60", "-k", "4", "-q"]
    cleave(*base, "-o", "a.npy", "--checkpoint", "c.ckpt", "--checkpoint-every", "0")
    cleave(*base, "-o", "b.npy", "--resume", "c.ckpt")
    check(read("a.npy") == read("b.npy"), "another segmentation")
    cleave("segment", "p.npy", "--superpixels", "60", "-k", "3", "-q", "-o", "b.npy", "--resume", "c.ckpt", code=65,
           err="this run has k=3")


@case
def a_method_that_cannot_says_so():
    data(n=30)
    extend("soft", "x.npy", "--checkpoint", "c.ckpt", code=64, err="soft cannot keep checkpoints, nor go on from one")
    check(not os.path.exists("c.ckpt"), "a checkpoint of nothing")
