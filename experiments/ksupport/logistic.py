"""Figure 1: logistic regression on the synthetic data of the paper."""

import subprocess
from collections import namedtuple

from methods import FEW, LINES, METHODS, PUBLISHED, RULE, Method, Run, setup_of, table_of
from pictures import by_iteration, by_k, by_time

# The score of a sample spreads as p' / sqrt(g p): with fewer features p' keeps that at the published 2.24, so that labels follow it as
# much, and k has the published shares of p'. `methods`: names, or None for all; `limit`: seconds after which a run is ended.
Size = namedtuple("Size", "title features samples relevant ks replications methods limit")
PROTOCOL = Size("1/20 of the features, 200 samples", 50000, 200, 2240, [448, 896, 1344, 1792, 2240], 10, None, 30)
FULL = Size("published size", 1000000, 500, 10000, [2000, 10000], 1, FEW, 300)
QUICK = PROTOCOL._replace(title="quick: 1/200 of the features, 200 samples", features=5000, relevant=700, ks=[140, 700], replications=2, limit=5)
GROUPS, RIDGE, VALIDATION = 20, 1e-3, 100
GRID = [1, 0.3, 0.1, 0.03]
NEWTON = Method("semismooth Newton, ours", {"solver": "newton"}, "#000000")
OF_LOGISTIC = {"working-set": "false", "screening": "false"}
ACCURACIES = ("1e-2", "1e-3", "1e-4")

# `runs`: {k: {method: [Run, ...]}}; `weights`, `areas`: {k: [lambda, ...]} and the AUC with it; `curves`: {k: {method: [(iteration, seconds, share above F*), ...]}};
# `rates`: the same curve of Algorithm 1 with corrections to the end; `inexact`: {k: {accuracy: share above F*}}
Study = namedtuple("Study", "size runs weights areas curves rates inexact")


def data_of(size, replications):
    """The command that makes the data of a size and takes questions, and which seeds it was given."""
    seeds = f"1 to {replications}" if replications > 1 else "1"
    return [f"ksupport_bench {size.features} {size.samples} {size.relevant} {GROUPS} SEED 1 features {VALIDATION}", f"(SEED: {seeds}) and on its input"]


def words_of(method):
    """As published, Algorithm 1 looks at all features in every iteration."""
    return {**method.options, **(OF_LOGISTIC if method.name == PUBLISHED else {})}


class Bench:
    """The program with the data of a replication in it; one line in, some lines out."""

    def __init__(self, path, size, seed):
        command = [path, size.features, size.samples, size.relevant, GROUPS, seed, 1, "features", VALIDATION]
        self.limit = size.limit
        self.process = subprocess.Popen([str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()

    def line(self, k, weight, options):
        """The question, without its end."""
        words = {"k": k, "lambda": weight, "ridge": RIDGE, "time-limit": self.limit, **options}
        return " ".join(f"{name} {value}" for name, value in words.items())

    def answer(self):
        """The fields of an answer."""
        said = self.process.stdout.readline()
        if not said:
            raise RuntimeError("ksupport_bench ended")
        return said.split("|", 1)[1].split()

    def ask(self, k, weight, options):
        """The fields of the answer."""
        print(self.line(k, weight, options), file=self.process.stdin, flush=True)
        return self.answer()

    def trace(self, k, weight, options):
        """[(iteration, seconds, objective)] of a run."""
        print(f"trace {self.line(k, weight, options)}\nbandwidth", file=self.process.stdin, flush=True)
        points = []
        while len(fields := self.answer()) > 1:
            points.append((int(fields[0]), float(fields[1]), float(fields[2])))
        return points


def choose_weight(bench, k):
    """(the largest AUC on the validation samples, the lambda with it, of equals the largest)."""
    return max((float(bench.ask(k, weight, {"solver": "fcfw"})[7]), weight) for weight in GRID)


def above(points, least):
    """(iteration, seconds, share above F*)."""
    return [(t, seconds, max(value / least - 1, 1e-12)) for t, seconds, value in points[1:]]


def look_closer(bench, k, weight, least, methods, study):
    """Curves, the rate of Theorem 1, and Remark 2."""
    published = {**words_of(METHODS[0]), "rule": "gap", "tol": "1e-8", "max-iter": "200"}
    study.curves[k] = {one.name: above(bench.trace(k, weight, {**words_of(one), "rule": "gap", "tol": "1e-6", "max-iter": "500"}), least)
                       for one in methods}
    study.rates[k] = above(bench.trace(k, weight, {**published, "inner-accuracy": "1e-12"}), least)
    study.inexact[k] = {accuracy: float(bench.ask(k, weight, {**published, "inner-accuracy": accuracy})[3]) / least - 1
                        for accuracy in ACCURACIES}


def measure(path, size):
    """All replications of a size."""
    methods = [one for one in [*METHODS, NEWTON] if size.methods is None or one.name in size.methods]
    study = Study(size, {k: {one.name: [] for one in methods} for k in size.ks}, {k: [] for k in size.ks}, {k: [] for k in size.ks},
                  {}, {}, {})
    for seed in range(1, size.replications + 1):
        with Bench(path, size, seed) as bench:
            for k in size.ks:
                area, weight = choose_weight(bench, k)
                least = float(bench.ask(k, weight, {"solver": "newton", "tol": "1e-8"})[3])
                study.weights[k].append(weight)
                study.areas[k].append(area)
                for one in methods:
                    fields = bench.ask(k, weight, {**words_of(one), **RULE})
                    setup = setup_of(one.options, float(fields[9]))
                    study.runs[k][one.name].append(Run(float(fields[0]) - setup, setup, int(fields[1]), float(fields[3]), float(fields[4]),
                                                       fields[8] == "converged", least))
                if seed == 1 and size.methods is None and k in (size.ks[0], size.ks[-1]):
                    look_closer(bench, k, weight, least, methods, study)
    return study


def section(study):
    """(text, {file name: picture}) of a size."""
    size, files, colors = study.size, {}, {one.name: one.color for one in [*METHODS, NEWTON]}
    name = "logistic-" + "".join(c if c.isalnum() else "-" for c in size.title)
    seconds = {method: [(k, sum(run.seconds for run in study.runs[k][method]) / size.replications) for k in size.ks]
               for method in study.runs[size.ks[0]]}
    files[f"{name}.svg"] = by_k(f"{size.title}: mean seconds by k", seconds, colors, size.ks)
    parts = [f"## {size.title}: p = {size.features}, M = {size.samples}, p' = {size.relevant}, {size.replications} "
             f"replication{'s' if size.replications > 1 else ''}\n", f"![seconds by k]({name}.svg)\n"]
    for k, curves in study.curves.items():
        files[f"{name}-{k}-iterations.svg"] = by_iteration(f"k = {k}: F / F* - 1 by iteration", curves, colors)
        files[f"{name}-{k}-seconds.svg"] = by_time(f"k = {k}: F / F* - 1 by processor seconds", curves, colors)
        parts.append(f"![by iteration]({name}-{k}-iterations.svg) ![by seconds]({name}-{k}-seconds.svg)\n")
    for k in size.ks:
        parts.append(f"### k = {k}; lambda of the replications: {', '.join(f'{w:g}' for w in study.weights[k])}; AUC: {', '.join(f'{a:.2f}' for a in study.areas[k])}\n\n{table_of(study.runs[k])}")
    return "\n".join(parts), files


def report(studies):
    """{file name: text}."""
    sections = [section(study) for study in studies]
    head = f"""# Logistic regression: figure 1{' (quick: smaller sizes)' if studies[0].size is QUICK else ''}

Section 4.1: samples of length 1. The first p' features are in {GROUPS} groups; an entry of one of them is its group's mean, drawn from N(0, 1) for each sample
and group, plus N(0, 1); the others are N(0, 1). (The paper does not say whether means are drawn once or for each sample; drawn once, they are the same in both classes.)
Labels by the logistic model with weights 1 on the relevant features. tau = {RIDGE:g}; the paper's tau is not printed. lambda: the one of {', '.join(f'{w:g}' for w in GRID)} with
the largest AUC on {VALIDATION} validation samples. Every replication draws new data. F* by semismooth Newton to a gap of 1e-8. Curves: first replication.

{LINES}
"""
    return {"logistic.md": head + "\n".join(text for text, _ in sections),
            **{name: picture for _, files in sections for name, picture in files.items()}}
