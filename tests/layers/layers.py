#!/usr/bin/env python3
"""The rules of the architecture, checked on the code.

    - a folder of src/ includes only what the arrows below allow; cli/ includes the public header only;
    - nobody outside of src/affinity/ includes home.h, names the parts of a home or compares a home with another;
    - every symbol that the library defines begins with clv_;
    - src/ does not print, end the process, touch signals, use the C library's random numbers or depend on the locale;
    - no layer but base and engine asks a clock (io does for the names of its temporary files);
    - vector loops are in src/kernels/, which is compiled for every instruction set.

Usage: layers.py --root TREE [--archive libcleave_internal.a] [--nm nm]
Prints one line per violation; exit status 1 if there is any.
"""
import argparse
import functools
import pathlib
import re
import subprocess
import sys

# A layer, and the layers that it stands on; what those stand on is allowed too.
ARROWS = {
    "base": [],
    "kernels": ["base"],
    "linalg": ["kernels"],
    "io": ["linalg"],
    "features": ["linalg"],
    "affinity": ["linalg"],
    "sets": ["linalg"],
    "engine": ["linalg"],
    "metrics": ["linalg", "affinity"],
    "methods": ["engine", "sets", "affinity", "metrics"],
    "report": ["io", "features", "metrics", "methods"],
}

# Calls that have no place in a library, with the reason. Names are matched whole, so snprintf and strtod_l pass.
FORBIDDEN_CALLS = {
    "prints": "printf vprintf puts putchar putc_unlocked putchar_unlocked perror psignal psiginfo warn warnx vwarn "
              "err errx verr error dprintf vdprintf syslog",
    "ends the process": "exit _exit _Exit quick_exit abort assert raise kill atexit pthread_exit system",
    "touches signals": "signal sigaction sigprocmask pthread_sigmask sigwait alarm setitimer",
    "uses the random numbers of the C library": "rand srand rand_r random srandom drand48 srand48 erand48 lrand48 "
                                                "nrand48 mrand48 jrand48 arc4random getrandom",
    "changes or depends on the locale": "atof strtod strtof strtold scanf sscanf fscanf vsscanf setlocale",
}
# Who knows the time, and what would tell it to the others: they ask whether to stop, and no more.
CLOCKED = {"base", "engine", "io"}
CLOCKS = "clv_seconds clock clock_gettime gettimeofday time times difftime timespec_get getrusage omp_get_wtime ftime"
VECTORS = re.compile(r"\bomp\s+(?:\w+\s+)*simd\b|\bimmintrin\.h|\barm_neon\.h|\btarget_clones\b|\bvector_size\b")
# Objects that stand for the terminal: naming one is as good as printing.
FORBIDDEN_NAMES = {"prints": "stdout stderr"}

# The libraries under the library: the command must not see them.
LIBRARY_HEADERS = re.compile(r"^(cblas|lapacke|arpack|png|jpeglib|jansson|omp|f77blas|zlib)\b")

# Where A lives is the business of src/affinity/: others ask what things cost, or for a capability.
HOME = r"(?:\.|->)home\b"
HOME_NAMES = r'"(?:dense-f64|dense-f32|computed|sparse|low-rank|cuda)"'
COMPARES_HOMES = re.compile(
    rf"{HOME}\s*[!=]=|[!=]=\s*[\w.>-]*{HOME}|[!=]=\s*CLV_HOME_\w+|CLV_HOME_\w+\s*[!=]=|\bcase\s+CLV_HOME_\w+"
    rf"|\bswitch\s*\([^;{{]*{HOME}|\bstrn?(?:case)?cmp\s*\([^;{{]*?(?:{HOME}|{HOME_NAMES})")
HOME_PARTS = re.compile(r"\bclv_\w+_(?:functions|maker)\b")

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)


def reach(layer):
    """The layer itself and everything below it."""
    found, todo = set(), [layer]
    while todo:
        at = todo.pop()
        if at not in found:
            found.add(at)
            todo.extend(ARROWS[at])
    return found


def blank_out(match):
    return re.sub(r"[^\n]", " ", match.group(0))


@functools.lru_cache(maxsize=None)  # the self-test looks at the same files again and again
def without_comments(text):
    """The code with comments blanked; line numbers stay."""
    pattern = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*'
    return re.sub(pattern, lambda m: m.group(0) if m.group(0)[0] in "\"'" else blank_out(m), text, flags=re.S)


@functools.lru_cache(maxsize=None)
def without_strings(code):
    return re.sub(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank_out, code)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def sources(folder):
    return sorted(p for p in folder.rglob("*") if p.suffix in (".c", ".h")) if folder.is_dir() else []


def resolve(root, path, name):
    """Where a quoted include leads, as the compiler would look for it; None when nowhere in the tree."""
    for folder in (path.parent, root / "src", root / "include"):
        target = (folder / name).resolve()
        if target.is_file():
            return target
    return None


def layer_of(root, path):
    """The folder of src/ that a file lies in, "" for the public header, None for anything else."""
    if path.parent == root / "include":
        return ""
    try:
        parts = path.relative_to(root / "src").parts
    except ValueError:
        return None
    return parts[0] if len(parts) > 1 else None


def check_includes(root):
    for path in sources(root / "src"):
        code = without_comments(path.read_text(encoding="utf-8"))
        layer = layer_of(root, path)
        if layer not in ARROWS:
            yield path, 1, "lies in no layer: the folders of src/ are " + ", ".join(ARROWS)
            continue
        for found in INCLUDE.finditer(code):
            if found.group(1) == "<":
                if found.group(2) == "cleave.h" or "/" in found.group(2) and found.group(2).split("/")[0] in ARROWS:
                    yield path, line_of(code, found.start()), f"includes <{found.group(2)}>: write it with quotes"
                continue
            target = resolve(root, path, found.group(2))
            wanted = layer_of(root, target) if target else None
            if wanted is None:
                yield path, line_of(code, found.start()), f'includes "{found.group(2)}", which is not in src/'
            elif wanted and wanted not in reach(layer):
                yield path, line_of(code, found.start()), f"{layer} must not include {wanted} ({found.group(2)})"


def check_command(root):
    for path in sources(root / "cli"):
        code = without_comments(path.read_text(encoding="utf-8"))
        for found in INCLUDE.finditer(code):
            bracket, name = found.groups()
            own = (path.parent / name).resolve()
            if bracket == '"' and (name == "cleave.h" or name.startswith("embedded/") or
                                   own.is_file() and own.parent == root / "cli"):
                continue
            if bracket == "<" and (name == "cleave.h" or not LIBRARY_HEADERS.match(name)
                                   and not (root / "src" / name).exists()):
                continue
            yield path, line_of(code, found.start()), f"cli/ sees cleave.h only, but includes {name}"


def call_pattern(names):
    return re.compile(rf"\b(?:{'|'.join(names.split())})\b(?=\s*\()")


def check_homes(root):
    own = root / "src" / "affinity"
    parts = {name for path in sources(own) for name in HOME_PARTS.findall(path.read_text(encoding="utf-8"))}
    for path in sources(root / "src") + sources(root / "cli"):
        if own in path.parents:
            continue
        code = without_comments(path.read_text(encoding="utf-8"))
        for found in INCLUDE.finditer(code):
            if resolve(root, path, found.group(2)) == own / "home.h":
                yield path, line_of(code, found.start()), "includes home.h, which is for homes of the affinity only"
        for found in HOME_PARTS.finditer(code):
            if found.group(0) in parts:
                yield path, line_of(code, found.start()), f"names a part of a home: {found.group(0)}"
        for found in COMPARES_HOMES.finditer(code):
            yield path, line_of(code, found.start()), f"compares a home: {found.group(0)}"


def call_rules():
    """A pattern a reason; its match is the name."""
    for why, names in FORBIDDEN_CALLS.items():
        yield why, call_pattern(names)
    for why, names in FORBIDDEN_NAMES.items():
        yield why, re.compile(rf"\b(?:{'|'.join(names.split())})\b")


def check_vectors(root):
    for path in sources(root / "src"):
        if layer_of(root, path) != "kernels":
            code = without_comments(path.read_text(encoding="utf-8"))
            for found in VECTORS.finditer(code):
                yield path, line_of(code, found.start()), f"has a vector loop, which belongs into src/kernels/: {found.group(0)}"


def check_calls(root):
    rules = list(call_rules())
    for path in sources(root / "src"):
        code = without_strings(without_comments(path.read_text(encoding="utf-8")))
        # Attributes such as format(printf, 1, 2) name a function without calling it.
        code = re.sub(r"__attribute__\s*\(\(.*?\)\)", blank_out, code, flags=re.S)
        # Between these two the thread has the C locale.
        pointed = re.sub(r"\bclv_point_begin\b.*?\bclv_point_end\b", blank_out, code, flags=re.S)
        clocks = [("asks a clock", call_pattern(CLOCKS))] if layer_of(root, path) not in CLOCKED else []
        for why, pattern in rules + clocks:
            for found in pattern.finditer(pointed if "locale" in why else code):
                yield path, line_of(code, found.start()), f"{why}: {found.group(0)}"


def check_symbols(archive, nm):
    out = subprocess.run([nm, "--defined-only", "--extern-only", "--format=posix", str(archive)], check=True,
                         stdout=subprocess.PIPE, universal_newlines=True).stdout
    defined = 0
    for line in out.splitlines():
        words = line.split()
        if len(words) < 2 or line.endswith(":"):
            continue
        defined += 1
        name = words[0]
        # The compiler's own: sanitizers and coverage counters.
        if not name.startswith("clv_") and not name.startswith("__"):
            yield archive, 0, f"defines {name}, which lacks the prefix clv_"
    if not defined:
        yield archive, 0, "defines no symbols: is it the library?"


def violations(root, archive, nm):
    root = root.resolve()
    if not sources(root / "src"):
        yield root, 0, "has no sources"
    yield from check_includes(root)
    yield from check_command(root)
    yield from check_homes(root)
    yield from check_calls(root)
    yield from check_vectors(root)
    if archive:
        yield from check_symbols(archive, nm)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--archive", type=pathlib.Path)
    parser.add_argument("--nm", default="nm")
    options = parser.parse_args()
    found = list(violations(options.root, options.archive, options.nm))
    for path, line, what in found:
        print(f"{path}:{line}: {what}" if line else f"{path}: {what}")
    print(f"layers: {len(found)} violations in {len(sources(options.root / 'src'))} files of src/"
          f" and {len(sources(options.root / 'cli'))} of cli/")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
