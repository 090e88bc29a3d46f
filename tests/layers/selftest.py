#!/usr/bin/env python3
"""A check that has never failed is not a check: plant each violation in a copy of the tree and see it reported.

Usage: selftest.py --root TREE --cc CC [--nm nm] [--ar ar]
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import layers  # noqa: E402 (found by the line above)

# Where a line is planted, the line, and a part of the report expected.
PLANTED = [
    ("src/base/planted.c", '#include "linalg/linalg.h"', "base must not include linalg"),
    ("src/base/planted.c", '#include "kernels/kernels.h"', "base must not include kernels"),
    ("src/kernels/planted.c", '#include "linalg/linalg.h"', "kernels must not include linalg"),
    ("src/linalg/planted.c", '#include "nowhere/nothing.h"', "which is not in src/"),
    ("src/linalg/planted.c", '#include "affinity/planted.h"', "linalg must not include affinity"),
    ("src/io/planted.c", '#include "affinity/planted.h"', "io must not include affinity"),
    ("src/affinity/planted.c", '#include "io/planted.h"', "affinity must not include io"),
    ("src/affinity/planted.c", '#include "../io/planted.h"', "affinity must not include io"),
    ("src/sets/planted.c", '#include "engine/planted.h"', "sets must not include engine"),
    ("src/engine/planted.c", '#include "affinity/affinity.h"', "engine must not include affinity"),
    ("src/metrics/planted.c", '#include "methods/planted.h"', "metrics must not include methods"),
    ("src/methods/planted.c", '#include "report/planted.h"', "methods must not include report"),
    ("src/methods/planted.c", '#include "io/planted.h"', "methods must not include io"),
    ("src/planted.c", "int clv_planted;", "lies in no layer"),
    ("src/oddments/planted.c", "int clv_planted;", "lies in no layer"),
    ("src/io/planted.c", "#include <base/base.h>", "write it with quotes"),
    ("cli/planted.c", '#include "base/base.h"', "cli/ sees cleave.h only"),
    ("cli/planted.c", '#include "../src/base/base.h"', "cli/ sees cleave.h only"),
    ("cli/planted.c", "#include <base/base.h>", "cli/ sees cleave.h only"),
    ("cli/planted.c", "#include <cblas.h>", "cli/ sees cleave.h only"),
    ("src/methods/planted.c", '#include "affinity/home.h"', "includes home.h"),
    ("src/report/planted.c", '#include "../affinity/home.h"', "includes home.h"),
    ("cli/planted.c", "#include <affinity/home.h>", "includes home.h"),
    ("src/methods/planted.c", "extern const clv_home_functions *clv_planted;", "names a part of a home"),
    ("src/metrics/planted.c", "extern const int clv_dense64_maker;", "names a part of a home"),
] + [
    (name, f"int clv_planted(void) {{ {code} }}", "compares a home") for name, code in [
        ("src/methods/planted.c", "return info.home == CLV_HOME_SPARSE;"),
        ("src/methods/planted.c", "return plan->home != other;"),
        ("src/metrics/planted.c", "return other == a->info.home;"),
        ("src/report/planted.c", "return how != CLV_HOME_COMPUTED;"),
        ("src/report/planted.c", "switch (plan->home) { default: return 1; }"),
        ("src/methods/planted.c", "switch (how) { case CLV_HOME_DENSE32: return 1; }"),
        ("cli/planted.c", 'return strcmp(job->info.home, name) == 0;'),
        ("src/report/planted.c", 'return strcmp(name, "low-rank") == 0;'),
    ]
] + [
    ("src/io/planted.c", f"void clv_planted(void) {{ {call}; }}", report) for call, report in [
        ('printf("x")', "prints: printf"), ('puts("x")', "prints: puts"), ('fprintf(stderr, "x")', "prints: stderr"),
        ("fputs(text, stdout)", "prints: stdout"), ('perror("x")', "prints: perror"),
        ("exit(1)", "ends the process: exit"), ("_exit(1)", "ends the process: _exit"),
        ("abort ()", "ends the process: abort"), ("assert(n > 0)", "ends the process: assert"),
        ("signal(2, h)", "touches signals: signal"), ("sigaction(2, &a, 0)", "touches signals: sigaction"),
        ("rand()", "random numbers of the C library: rand"), ("srand(1)", "random numbers of the C library: srand"),
        ("drand48()", "random numbers of the C library: drand48"), ("x = atof(s)", "locale: atof"),
        ("x = strtod(s, &end)", "locale: strtod"),
        ("c = clv_point_begin(); clv_point_end(c); x = strtod(s, &end)", "locale: strtod"), ('sscanf(s, "%lf", &x)', "locale: sscanf"),
        ('setlocale(LC_ALL, "C")', "locale: setlocale"),
    ]
] + [
    (f"src/{layer}/planted.c", f"double clv_planted(void) {{ return {call}; }}", f"asks a clock: {name}")
    for layer, call, name in [
        ("methods/ncut", "clv_seconds()", "clv_seconds"), ("methods", "(double)time(NULL)", "time"),
        ("affinity", "clock_gettime(CLOCK_MONOTONIC, &now)", "clock_gettime"), ("features", "omp_get_wtime()", "omp_get_wtime"),
        ("sets", "clv_seconds ()", "clv_seconds"), ("linalg", "clock()", "clock"),
        ("kernels", "clv_seconds()", "clv_seconds"),
    ]
] + [
    ("src/methods/planted.c", f"void clv_planted(void) {{\n{line}\n}}", "has a vector loop")
    for line in ("#pragma omp simd reduction(+ : x)", "#pragma omp parallel for simd", "#include <immintrin.h>")
]

# What looks like a violation and is none.
INNOCENT = """
/* printf("in a comment"); exit(1); stderr */
// abort() in a line comment
#include "cleave.h"
const char *clv_planted_text = "printf(1) exit(1) stdout \\" abort()";
__attribute__((format(printf, 1, 2))) int clv_planted(const char *format, ...);
double clv_planted_real(char *s) { locale_t c = clv_point_begin(); double x = strtod(s, 0); clv_point_end(c); return x; }
double clv_planted_time(void) { return clv_seconds() + time_limit(0); }
int clv_planted_home(int *how, char *s) { how->home = CLV_HOME_DENSE64; return x->home.value < 1 && !strcmp(s, "home"); }
int clv_planted_exit(int n) { return snprintf(0, 0, "%d", n) + (int)strtod_l("1", 0, 0); }
"""


def copy_tree(root, to):
    for folder in ("include", "src", "cli"):
        if (root / folder).is_dir():
            shutil.copytree(root / folder, to / folder)


def plant(tree, name, text):
    path = tree / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n", encoding="utf-8")
    return path


def check_planted(tree, failures):
    for folder in layers.ARROWS:
        plant(tree, f"src/{folder}/planted.h", "/* something to include */")
    before = list(layers.violations(tree, None, "nm"))
    planted = [plant(tree, name.replace("planted.c", f"planted{i}.c"), text) for i, (name, text, _) in enumerate(PLANTED)]
    innocent = plant(tree, "src/io/innocent.c", INNOCENT)
    found = {}
    for at, _, what in layers.violations(tree, None, "nm"):
        found.setdefault(at, []).append(what)
    for path, (name, text, expected) in zip(planted, PLANTED):
        new = found.get(path.resolve(), [])
        if not any(expected in what for what in new):
            failures.append(f"{name}: {text!r} was not reported as {expected!r} but as {new}")
    if innocent.resolve() in found:
        failures.append(f"innocent code was reported: {found[innocent.resolve()]}")
    for path in [*planted, innocent]:
        path.unlink()
    if list(layers.violations(tree, None, "nm")) != before:
        failures.append("the copy of the tree did not come back to what it was")


def check_symbols(tree, options, failures):
    good = "int clv_good(void); int clv_good(void) { return 1; } static int hidden; int *clv_use(void);" \
           " int *clv_use(void) { return &hidden; }"
    for text, expected in [(good, None), (good + " int stray(void) { return 2; }", "defines stray"),
                           (good + " int stray_object = 3;", "defines stray_object"),
                           ("typedef int nothing;", "defines no symbols")]:
        source = plant(tree, "symbols.c", text)
        archive = tree / "symbols.a"
        archive.unlink(missing_ok=True)
        subprocess.run([options.cc, "-c", str(source), "-o", str(tree / "symbols.o")], check=True)
        subprocess.run([options.ar, "rc", str(archive), str(tree / "symbols.o")], check=True)
        found = [what for _, _, what in layers.check_symbols(archive, options.nm)]
        if expected is None and found or expected and not any(expected in what for what in found):
            failures.append(f"symbols of {text!r}: expected {expected!r}, reported {found}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--ar", default="ar")
    options = parser.parse_args()
    failures = []
    with tempfile.TemporaryDirectory(prefix="cleave-layers-") as scratch:
        tree = pathlib.Path(scratch).resolve()
        copy_tree(options.root, tree)
        check_planted(tree, failures)
        check_symbols(tree, options, failures)
    for failure in failures:
        print(failure)
    print(f"layers.selftest: {len(PLANTED) + 5} planted, {len(failures)} wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
