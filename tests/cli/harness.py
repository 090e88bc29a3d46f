"""What the cases share: running the command, small data files, reading results back."""
import json
import os
import random
import re
import struct
import subprocess
import time

CLEAVE = None
EXTEND = os.environ.get("CLEAVE_EXTEND")
CASES = []
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Skip(Exception):
    """The case needs something that is not here."""


def case(function):
    CASES.append((function.__module__.split(".")[-1] + "." + function.__name__, function))
    return function


def check(condition, text):
    if not condition:
        raise AssertionError(text)


class Outcome:
    def __init__(self, args, process):
        self.args, self.code = args, process.returncode
        self.out = process.stdout.decode() if process.stdout is not None else ""
        self.err = process.stderr.decode() if process.stderr is not None else ""

    def __str__(self):
        return f"cleave {' '.join(self.args)}\n  exit {self.code}\n  stdout: {self.out!r}\n  stderr: {self.err!r}"

    def json(self):
        return json.loads(self.out)


def cleave(*args, code=0, out=None, err=None, stdin=None, stdout=subprocess.PIPE, env=None, program=None):
    """Run it; check the exit status and a pattern on either output. Without `err`, standard error must be empty on
    success, and one line beginning with `cleave` on failure."""
    args = [str(a) for a in args]
    process = subprocess.run([program or CLEAVE, *args], input=stdin, stdout=stdout, stderr=subprocess.PIPE, timeout=120, env=env,
                             stdin=subprocess.DEVNULL if stdin is None else None)
    result = Outcome(args, process)
    check(result.code == code, f"exit {result.code}, not {code}: {result}")
    if out is not None:
        check(re.search(out, result.out), f"no /{out}/ on stdout: {result}")
    if err is not None:
        check(re.search(err, result.err), f"no /{err}/ on stderr: {result}")
    if code == 0 and err is None:
        check(result.err == "", f"stderr is not empty: {result}")
    if code in (64, 65, 66, 70, 71, 73) and "--progress=json" not in args:
        check(result.err.count("\n") == 1 and result.err.startswith("cleave"), f"not one line: {result}")
    return result


def extend(*args, **expected):
    """The same for the methods made by hand, where the build has put them."""
    if not EXTEND:
        raise Skip("CLEAVE_EXTEND does not name the program of tests/extend")
    return cleave(*args, program=EXTEND, **expected)


# --- data ---

def write(path, text):
    with open(path, "w") as file:
        file.write(text)
    return path


def read(path):
    with open(path, "rb") as file:
        return file.read()


def npy(path, rows, kind="<f8"):
    """A list of lists, or of numbers, as .npy version 1."""
    flat = [v for row in rows for v in row] if isinstance(rows[0], list) else rows
    shape = f"({len(rows)}, {len(rows[0])})" if isinstance(rows[0], list) else f"({len(rows)},)"
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    letter = {"<f8": "d", "<i4": "i", "<f4": "f"}[kind]
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(flat)}{letter}", *flat))
    return path


def read_rows(path):
    """The numbers of a .csv file that was written with names: without its header and the names of its rows."""
    lines = read(path).decode().splitlines()
    return [[float(v) for v in line.split(",")[1:]] for line in lines[1:]]


def read_npy_labels(path):
    data = read(path)
    size = struct.unpack("<H", data[8:10])[0]
    check(b"'<i4'" in data[10:10 + size], "labels are not int32")
    body = data[10 + size:]
    return list(struct.unpack(f"<{len(body) // 4}i", body))


def read_npy_matrix(path, n):
    data = read(path)
    size = struct.unpack("<H", data[8:10])[0]
    values = struct.unpack(f"<{n * n}d", data[10 + size:])
    return [list(values[i * n:(i + 1) * n]) for i in range(n)]


def blobs(per=20, centers=((0, 0), (6, 0), (0, 6)), seed=1):
    """Points around centers, and which center each is of."""
    draw = random.Random(seed)
    points, labels = [], []
    for c, (x, y) in enumerate(centers):
        for _ in range(per):
            points.append([x + draw.gauss(0, 1), y + draw.gauss(0, 1)])
            labels.append(c)
    return points, labels


def csv(path, points, labels=None, header=None):
    lines = [header] if header else []
    for i, row in enumerate(points):
        lines.append(",".join([f"{v:.6f}" for v in row] + ([str(labels[i])] if labels else [])))
    return write(path, "\n".join(lines) + "\n")


def blobs_npy(**options):
    points, labels = blobs(**options)
    npy("x.npy", points)
    npy("y.npy", labels, "<i4")
    return points, labels


def two_blocks(n=6):
    """A similarity of two groups."""
    return [[1.0 if (i < n // 2) == (j < n // 2) else 0.1 for j in range(n)] for i in range(n)]


def same_partition(a, b):
    return len(set(zip(a, b))) == len(set(a)) == len(set(b))


def without(value, *names):
    """A JSON value without the members of these names, at any depth."""
    if isinstance(value, dict):
        return {k: without(v, *names) for k, v in value.items() if k not in names}
    return [without(v, *names) for v in value] if isinstance(value, list) else value


def shared(name):
    """A file of the data folder; the case is skipped when it is not there."""
    folder = os.environ.get("CLEAVE_DATA", os.path.join(ROOT, "..", "shared", "data"))
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        raise Skip(f"{path} is not there (set CLEAVE_DATA)")
    return os.path.abspath(path)


def wait_until_caught(process, number):
    """Until the process has a handler for the signal, as a slow machine may take its time to start one; then a moment more,
    for it to get to work."""
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        with open(f"/proc/{process.pid}/status") as status:
            caught = next(int(line.split()[1], 16) for line in status if line.startswith("SigCgt"))
        if caught >> (number - 1) & 1:
            break
        time.sleep(0.01)
    time.sleep(0.3)
