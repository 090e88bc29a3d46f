"""Small files that claim, or inflate to, far more than --memory: one sentence, and the memory is never taken."""
import gzip
import json
import os
import platform
import re
import resource
import struct
import subprocess
import zlib

import harness
from harness import case, check, npy, write

BUDGET = 20 << 20
SPARE = 100 << 20  # what is not data, sanitizers' own memory included; every bomb would take more


def run(*args, feed=None):
    """Exit status, standard error, and the most memory that was resident."""
    with open("err", "wb") as err:
        process = subprocess.Popen([harness.CLEAVE, *args], stdin=feed or subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, harness.read("err").decode(), used.ru_maxrss << 10


def limited(most, *args, env=None):
    """With an address space of so many bytes."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most))
    return subprocess.run([harness.CLEAVE, *args], env=env, preexec_fn=limit, capture_output=True, timeout=60)


def is_sanitized():
    return limited(2 << 30, "--version").returncode != 0


def bomb(*args, feed=None):
    _, _, idle = run("--version")
    code, err, most = run(*args, "--memory", str(BUDGET), feed=feed)
    check(code == 71 and err.count("\n") == 1 and re.search("--memory|budget", err), f"{args}: {code} {err}")
    check(most < idle + BUDGET + SPARE, f"{args}: {most} bytes, {idle} for nothing")


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def jpeg(path, width, height, padding):
    """The progressive picture of the fuzz targets, said to be larger, in a file that might hold it."""
    small = harness.read(os.path.join(os.path.dirname(__file__), "../../fuzz/corpus/image/progressive.jpg"))
    frame = small.index(b"\xff\xc2")
    with open(path, "wb") as file:
        file.write(small[:frame + 5] + struct.pack(">HH", height, width) + small[frame + 9:] + bytes(padding))
    return path


def text_model(path, terms):
    """Of one document and one axis, with texts that are all empty."""
    body = b"CLVTEXT1" + struct.pack("<8q2Q", 1, terms, 1, 0, terms + 1, 0, 1, 1, 0, 0)
    body += bytes(8 * (terms + 1)) + bytes(16) + bytes(terms + 1)
    with open(path, "wb") as file:
        file.write(body + struct.pack("<I", zlib.crc32(body)))
    return path


def scans(path, side, count):
    """A progressive gray picture: a scan of the means of its blocks, all 0, and `count` scans with nothing in them."""
    def segment(kind, body):
        return b"\xff" + kind + struct.pack(">H", len(body) + 2) + body
    def code(table, symbol):  # of one bit
        return segment(b"\xc4", bytes([table, 1] + 15 * [0] + [symbol]))
    blocks, run = (side // 8) ** 2, 1 << 14  # blocks without anything are counted by a bit, and 14 more for what is above run
    check(blocks % run == 0, "whole runs")
    empty = segment(b"\xda", bytes([1, 1, 0, 1, 63, 0])) + bytes((15 * blocks // run + 7) // 8)
    with open(path, "wb") as file:
        file.write(b"\xff\xd8" + segment(b"\xdb", bytes(1) + b"\1" * 64)
                   + segment(b"\xc2", struct.pack(">BHHB", 8, side, side, 1) + bytes([1, 0x11, 0])) + code(0, 0) + code(0x10, 0xe0)
                   + segment(b"\xda", bytes([1, 1, 0, 0, 0, 0])) + bytes(blocks // 8) + empty * count + b"\xff\xd9")
    return path


def png(path, width, height, surplus=0):
    """Black, and so many bytes more in its data."""
    packer = zlib.compressobj(9)
    rows = b"".join(packer.compress(b"\0" * (1 + 3 * width)) for _ in range(height))
    rows += b"".join(packer.compress(bytes(1 << 20)) for _ in range(surplus >> 20)) + packer.flush()
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
                   + chunk(b"IDAT", rows) + chunk(b"IEND", b""))
    return path


def mat(path, rows, cols):
    """A matrix of zeros, compressed, as MATLAB 5 writes it."""
    def element(kind, body):
        return struct.pack("<II", kind, len(body)) + body + b"\0" * (-len(body) % 8)
    content = (element(6, struct.pack("<II", 6, 0)) + element(5, struct.pack("<ii", rows, cols)) + element(1, b"X")
               + struct.pack("<II", 9, 8 * rows * cols))
    packer = zlib.compressobj(9)
    packed = packer.compress(struct.pack("<II", 14, len(content) + 8 * rows * cols) + content)
    packed += b"".join(packer.compress(bytes(8 * cols)) for _ in range(rows)) + packer.flush()
    with open(path, "wb") as file:
        file.write(b"MATLAB 5.0 MAT-file".ljust(124) + b"\0\1IM" + struct.pack("<II", 15, len(packed)) + packed)
    return path


@case
def headers_that_claim():
    write("tall.mtx", "%%MatrixMarket matrix coordinate real general\n300000000 2 1\n1 1 1\n")
    write("wide.svm", "1 2147483646:1\n0 1:1\n")
    npy("y.npy", [1.0, 0.0])
    bomb("ncut", "tall.mtx", "-k", "2")
    bomb("ncut", "wide.svm", "-k", "2")
    bomb("kpalm", png("p.png", 9000, 9000), "-k", "2")
    bomb("segment", "p.png", "-k", "2", "-o", "l.png")
    bomb("kpalm", mat("m.mat", 100000, 300), "-k", "2")
    bomb("kpalm", jpeg("p.jpg", 8000, 8000, 3 << 20), "-k", "2")
    bomb("ksupport", "wide.svm", "y.npy", "-k", "1", "--scale", "unit-columns")
    check(not os.path.exists("l.png"), "there is no output")


@case
def files_that_inflate():
    with gzip.open("c.csv.gz", "wb") as file:
        file.write(b"a,b\n" + b"1,2\n" * 20000000)
    with gzip.open("d.jsonl.gz", "wb") as file:
        file.write(json.dumps({"text": "a b " * 20000000}).encode() + b"\n")
    bomb("kpalm", "c.csv.gz", "-k", "2")
    bomb("text", "d.jsonl.gz", "--tfidf", "t.mtx")
    check(not os.path.exists("t.mtx"), "there is no output")


@case
def pictures_that_take_long():
    """A time limit holds while they are decoded: of all this work, so much as passes in a moment is done."""
    for path in png("p.png", 4, 4, 300 << 20), png("q.png", 3000, 3000), scans("p.jpg", 2048, 400):
        harness.cleave("kpalm", path, "-k", 2, "--time-limit", 1e-6, code=75, err=f"passed while reading {path}, before")
    harness.cleave("kpalm", png("r.png", 4, 4, 1 << 20), "-k", 1, "--time-limit", 1e-6, "-q")
    harness.cleave("kpalm", scans("r.jpg", 1024, 1), "-k", 1, "--time-limit", 1e-6, "-q")


@case
def streams_without_an_end():
    with subprocess.Popen(["yes", "1,2,3"], stdout=subprocess.PIPE) as endless:
        bomb("kpalm", "-", "-k", "2", feed=endless.stdout)
        endless.stdout.close()


@case
def results_that_are_mostly_commas():
    write("r.json", '{"cleave": "0.2.0", "labels": [' + ",".join(["0"] * 6000000) + "]}")
    npy("x.npy", [[1.0], [2.0]])
    bomb("verify", "r.json", "x.npy")
    bomb("predict", "r.json", "x.npy", "-o", "l.csv")


@case
def models_of_documents_and_new_data():
    """A model that is nearly as large as it says, and new objects for a result that was kept."""
    npy("x.npy", [[1.0, 2.0], [2.0, 1.0], [8.0, 9.0]])
    harness.cleave("kpalm", "x.npy", "-k", 2, "-q", "--json", "r.json")
    write("new.jsonl", '{"text": "a b"}\n')
    write("tall.mtx", "%%MatrixMarket matrix coordinate real general\n300000000 2 1\n1 1 1\n")
    with gzip.open("c.csv.gz", "wb") as file:
        file.write(b"a,b\n" + b"1,2\n" * 20000000)
    bomb("text", "new.jsonl", "--like", text_model("m.clv", 3000000), "-o", "y.npy")
    bomb("predict", "r.json", "tall.mtx", "-o", "l.csv")
    bomb("predict", "r.json", "c.csv.gz", "-o", "l.csv")
    bomb("predict", "r.json", png("p.png", 9000, 9000), "-o", "l.csv")
    bomb("predict", "r.json", mat("m.mat", 100000, 300), "-o", "l.csv")
    check(not os.path.exists("l.csv") and not os.path.exists("y.npy"), "there is no output")


@case
def many_terms():
    """What is sorted takes no memory that the budget does not count."""
    budget, spare = 80 << 20, 6 << 20
    with open("c.jsonl", "w") as file:
        for d in range(10000):
            file.write('{"text": "' + " ".join(f"u{(d * 100 + j) * 2654435761 % 2 ** 32:08x}" for j in range(100)) + '"}\n')
    _, _, idle = run("text", "nothing.jsonl", "-o", "x.npy")
    code, err, most = run("text", "c.jsonl", "--tfidf", "t.mtx", "--threads", "1", "--memory", str(budget))
    check(code in (0, 71), f"{code}: {err}")
    if not is_sanitized():
        check(most < idle + budget + spare, f"{most} bytes, {idle} for nothing")


@case
def a_limit_of_the_system():
    """Where BLAS has no room for its buffers it would try for ever. Kernels of this processor type have no way around
    them; BLAS must not start threads of its own, whose buffers it wants before anybody is asked."""
    env = dict(os.environ, OPENBLAS_NUM_THREADS="1", OPENBLAS_CORETYPE="Haswell" if platform.machine() == "x86_64" else "")
    npy("x.npy", [[float((i * i + f) % 11 + 7 * (i % 5 == f)) for f in range(6)] for i in range(1500)])
    if is_sanitized():
        raise harness.Skip("a sanitizer takes more than any limit")
    codes = set()
    for most in range(60 << 20, 420 << 20, 24 << 20):
        done = limited(most, "symnmf", "x.npy", "-k", "20", "--home", "dense-f64", "--max-iter", "2", "--threads", "2", "-q", "-o",
                       "l.csv", env=env)
        codes.add(done.returncode)
        check(done.returncode in (0, 71, 127), f"{most} bytes: {done.returncode} {done.stderr}")  # 127: of the loader
    check({0, 71} <= codes, f"some limits are too low, others are not: {codes}")
