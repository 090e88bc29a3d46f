"""Figure 1: logistic regression on the synthetic data of the paper, by all methods."""

import subprocess

from common.markdown import table
from methods import COLORS, METHODS, RULES
from pictures import by_k, by_time

SIZES = {False: (1000000, 500, 10000, [2000, 4000, 6000, 8000, 10000]), True: (20000, 200, 1000, [200, 600, 1000])}
GROUPS, LAMBDA, RIDGE, VALIDATION = 20, 0.1, 1e-3, 200

HEAD = """# Logistic regression: figure 1{quick}

Liu, Yuan, Zhang, Liu and Metaxas, *Efficient k-Support-Norm Regularized Minimization via Fully Corrective Frank-Wolfe Method*,
section 4.1: p = {features} features, M = {samples} samples of length 1, the first {relevant} features in {groups} groups with a mean drawn for each
group and sample, the others noise; labels by the logistic model with weights 1 on the relevant features. lambda = {weight},
tau = {ridge}, X in floats, {threads} threads; reading X once takes {floor:.3f} s here ({bandwidth:.1f} GB/s). The paper takes lambda from a validation set and does not print
it. Runs are ended after {limit} s.

What the paper reports, by its figure 1: k-FCFW is several times faster than FISTA with any of the three proximity operators, ADMM-AS is slower than
all and does not reach the accuracy, and k-FCFW takes far fewer iterations.
"""


class Bench:
    """The program with the data in it; one line in, some lines out."""

    def __init__(self, path, threads, quick, seconds):
        features, samples, relevant, _ = SIZES[quick]
        command = [path, features, samples, relevant, GROUPS, 1, threads, "features", VALIDATION]
        self.limit = seconds
        self.process = subprocess.Popen([str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

    def ask(self, question):
        """The fields of the answer."""
        self.process.stdin.write(question + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"ksupport_bench ended at: {question}")
        return answer.split("|", 1)[1].split()

    def trace(self, question):
        """[(seconds, objective)] of a run."""
        self.process.stdin.write(f"trace {question}\nbandwidth\n")
        self.process.stdin.flush()
        points = []
        while True:
            answer = self.process.stdout.readline()
            if not answer or answer.startswith("bandwidth"):
                return points
            fields = answer.split("|", 1)[1].split()
            points.append((float(fields[1]), float(fields[2])))


def question(k, seconds, *options):
    """A line for the program."""
    words = {"k": k, "lambda": LAMBDA, "ridge": RIDGE, "time-limit": seconds}
    for more in options:
        words.update(more)
    return " ".join(f"{name} {value}" for name, value in words.items())


def row_of(name, fields, floor):
    """Of the table."""
    seconds, iterations, passes, objective, gap, nonzeros, precision, auc = fields[:8]
    ended = "" if fields[8] == "converged" else f" ({' '.join(fields[8:])})"
    return [name, f"{float(seconds):.3f}{ended}", iterations, passes, f"{float(seconds) / max(float(passes) * floor, 1e-9):.2f}",
            f"{float(objective):.6f}", gap, nonzeros, precision, auc]


def study(bench, ks, floor):
    """Tables by rule and k, seconds for the picture."""
    parts, seconds = [], {name: [] for name, _ in METHODS}
    header = ["method", "seconds", "iterations", "passes over X", "seconds / (passes x reading X)", "F", "relative gap", "nonzeros",
              "precision", "AUC"]
    for words, rule in RULES:
        for k in ks:
            rows = []
            for name, options in METHODS:
                fields = bench.ask(question(k, bench.limit, options, rule))
                rows.append(row_of(name, fields, floor))
                if rule["rule"] == "change":
                    seconds[name].append((k, float(fields[0])))
            parts.append(f"## Until {words}, k = {k}\n\n{table(header, rows)}")
    return parts, seconds


def convergence(bench, k):
    """(F - F*) / F* by time of each method."""
    least = float(bench.ask(question(k, bench.limit, {"solver": "newton", "tol": "1e-9"}))[3])
    found = {}
    for name, options in METHODS:
        points = bench.trace(question(k, bench.limit / 4, options, {"rule": "gap", "tol": "1e-6"}))
        found[name] = [(s, max((value - least) / least, 1e-12)) for s, value in points[1:]]
    return found


def report(path, threads, quick, seconds):
    """{file name: text}."""
    features, samples, relevant, ks = SIZES[quick]
    bench = Bench(path, threads, quick, seconds)
    bandwidth = float(bench.ask("bandwidth")[0])
    floor = features * samples * 4e-9 / bandwidth
    head = HEAD.format(features=features, samples=samples, relevant=relevant, groups=GROUPS, weight=LAMBDA, ridge=RIDGE,
                       threads=threads, floor=floor, bandwidth=bandwidth, limit=bench.limit, quick=" (quick: smaller sizes)" if quick else "")
    parts, seconds = study(bench, ks, floor)
    files = {"logistic-time.svg": by_k("seconds to the paper's rule, by k", seconds, COLORS, ks)}
    pictures = ["![seconds by k](logistic-time.svg)"]
    for k in (ks[0], ks[-1]):
        files[f"logistic-{k}.svg"] = by_time(f"(F - F*) / F* by seconds, k = {k}", convergence(bench, k), COLORS)
        pictures.append(f"![convergence](logistic-{k}.svg)")
    files["logistic.md"] = "\n".join([head, *pictures, "", *parts])
    return files
