"""The claims of the simplicial NMF paper, judged by what study.py and nonsmooth.py measured with the kernel of the paper."""

from common.verdicts import verdict
from nonsmooth import lowest
from study import KERNELS, PAPER_CHANGE, PAPER_ITERATIONS, SOLVERS

PLOT = "a plot, no numbers"
TIMES = 10  # "orders of magnitude" is at least this; "the same order" is less
CLOSE = 0.1  # two values of f agree if they differ by less than this share
NEAR = 1e-2  # a run is near its own end when this share of f - f* is left; it has come to one when its gap is this share of f
STOPPED = f"--change {PAPER_CHANGE:g} --max-iter {PAPER_ITERATIONS}"


def stopped(run):
    """(f, iterations, seconds) where the rule of the paper ends a run, or where it was ended before."""
    at = len(run.course["objective"]) - 1 if run.stopped is None else run.stopped
    return run.course["objective"][at], at, run.course["seconds"][at] - run.course["seconds"][0]


def is_cut(run):
    """Whether time ended it before the rule of the paper."""
    return run.stopped is None and run.result["stop"] == "time limit"


def said(run, value, unit=""):
    """A figure at the stop of the paper; where the run was cut before that, this is said."""
    return f"{value:.6g}{unit}{' (cut short)' if is_cut(run) else ''}"


def has_ended(run):
    """Whether its last f is the f* of the solver."""
    return run.result["certificate"]["value"] <= NEAR * run.result["objective"]["value"]


def near_end(run):
    """Seconds until all but NEAR of f - f* is gone, f* the solver's own end."""
    values, seconds = run.course["objective"], run.course["seconds"]
    bar = min(values) + NEAR * (values[0] - min(values))
    return next(s for s, f in zip(seconds, values) if f <= bar) - seconds[0]


def rises(run):
    """Iterations in which f rose, by more than rounding."""
    values = run.course["objective"]
    return sum(b > a * (1 + 1e-12) for a, b in zip(values, values[1:]))


class Figures:
    """What a claim on all data sets is judged by: a sentence and a truth value a set."""

    def __init__(self, studies):
        self.by_set = {s.set.name: {run.solver: run for run in s.runs} for s in studies if s.kernel == "paper"}

    def row(self, claim, where, judge, solver, most=False, better=None):
        """`judge(runs)` gives (whether it holds, figures) of a set; `most`: more than half of the sets are enough. Sets on which the
        solver or projected gradients were cut short are shown and not judged, but for the penalty method, which is long by itself."""
        found = {name: judge(runs) for name, runs in self.by_set.items()}
        cut = [name for name, runs in self.by_set.items() if is_cut(runs["pgd"]) or (is_cut(runs[solver]) and solver != "penalty")]
        judged = {name: holds for name, (holds, _) in found.items() if name not in cut}
        failing = [name for name, holds in judged.items() if not holds]
        holds = bool(judged) and (2 * len(failing) < len(judged) if most else not failing)
        figures = "; ".join(f"{name}{' (cut short: not judged)' if name in cut else ''}: {words}" for name, (_, words) in found.items())
        missed = "; ".join(f"{name}: {found[name][1]}" for name in failing)
        command = f"cleave symnmf SET.X.npy -k K {' '.join(KERNELS['paper'])} --start random --seed 1 {' '.join(SOLVERS[solver])} {STOPPED}"
        beyond = better is not None and all(better(runs) for runs in self.by_set.values())
        return verdict(claim, where, PLOT, figures, command, holds, missed or "all runs were cut short", beyond)


def slower(runs):
    """The penalty method against both others, by seconds."""
    (_, _, own), others = stopped(runs["penalty"]), [stopped(runs[name])[2] for name in ("pgd", "algorithm 1")]
    return own >= TIMES * max(others), f"{said(runs['penalty'], own, ' s')} against {others[0]:.3g} (pgd) and {others[1]:.3g} (algorithm 1)"


def worse(runs):
    """The penalty method against both others, by f."""
    own, others = stopped(runs["penalty"])[0], [stopped(runs[name])[0] for name in ("pgd", "algorithm 1")]
    return own > max(others), f"f = {said(runs['penalty'], own)} against {others[0]:.6g} (pgd) and {others[1]:.6g} (algorithm 1)"


def as_low(name):
    """Frank-Wolfe against projected gradients, by f."""
    def judge(runs):
        own, other = stopped(runs[name])[0], stopped(runs["pgd"])[0]
        return own <= (1 + CLOSE) * other, f"f = {own:.6g} after {stopped(runs[name])[1]} iterations, pgd {other:.6g}"
    return judge


def cheaper(name):
    """Frank-Wolfe against projected gradients: more iterations in less time."""
    def judge(runs):
        (_, many, own), (_, few, other) = stopped(runs[name]), stopped(runs["pgd"])
        return many >= few and own < other, f"{many} iterations in {own:.3g} s, pgd {few} in {other:.3g} s"
    return judge


def rises_of(name, wanted):
    """Whether f rises in some iteration, as the claim wants it or not."""
    def judge(runs):
        count = rises(runs[name])
        return (count > 0) == wanted, f"{count} of {len(runs[name].course['objective']) - 1} iterations"
    return judge


def same_order(name):
    """Frank-Wolfe against projected gradients: seconds to the own end."""
    def judge(runs):
        own, other = max(near_end(runs[name]), 1e-4), max(near_end(runs["pgd"]), 1e-4)
        ended = has_ended(runs[name])
        return ended and 1 / TIMES < own / other < TIMES, f"{own:.3g} s{'' if ended else ', and no end of its own'}, pgd {other:.3g} s"
    return judge


def faster(name):
    """The same, by which is first."""
    def judge(runs):
        own, other = near_end(runs[name]), near_end(runs["pgd"])
        return own < other, f"{own:.3g} s, pgd {other:.3g} s"
    return judge


def ours_beyond(runs):
    """Whether `rows` is below projected gradients at the paper's stop, in less time."""
    return stopped(runs["rows"])[0] < stopped(runs["pgd"])[0] and stopped(runs["rows"])[2] <= stopped(runs["pgd"])[2]


def nonsmooth_rows(paths):
    """Section 4."""
    rows, command = [], "cc examples/nonsmooth.c -lm -o nonsmooth && ./nonsmooth"
    for rule in ("open loop", "line search", "fully corrective"):
        for problem, fails in (("13", True), ("14", False)):
            value = paths[problem, rule][-1][2]
            rows.append(verdict(f"Frank-Wolfe ({rule}) {'fails' if fails else 'works'} on ({problem})", "section 4, figure 1", "an argument",
                                f"f = {value:.4f} after {len(paths[problem, rule]) - 1} steps, minimum 0", command, (value > 0.1) == fails, f"f = {value:.4f}"))
    value = lowest(paths["13", "subgradient"])
    rows.append(verdict("The subgradient method works on (13)", "section 4", "an argument",
                        f"the lowest f is {value:.4f} after {len(paths['13', 'subgradient']) - 1} steps", command, value <= 0.1, f"f = {value:.4f}"))
    return rows


def rows(studies, paths):
    """All verdicts."""
    figures = Figures(studies)
    found = [
        figures.row("The penalty method is orders of magnitude slower than both others", "section 5, figure 2", slower, "penalty"),
        figures.row("The penalty method usually ends at a worse point", "section 5, figure 2", worse, "penalty", most=True),
        figures.row("Algorithm 1 (step gap / C) comes down like projected gradients", "figure 2", as_low("algorithm 1"), "algorithm 1"),
        figures.row("Frank-Wolfe with an exact step comes down like projected gradients", "figure 2", as_low("fw, exact step"),
                    "fw, exact step", better=ours_beyond),
        figures.row("Algorithm 1 takes more iterations than projected gradients, and less time", "section 5, figure 2",
                    cheaper("algorithm 1"), "algorithm 1"),
        figures.row("Frank-Wolfe with an exact step takes more iterations than projected gradients, and less time", "section 5, figure 2",
                    cheaper("fw, exact step"), "fw, exact step"),
        figures.row("f never rises in projected gradients with backtracking", "section 5", rises_of("pgd", False), "pgd"),
        figures.row("f rises at times in Frank-Wolfe", "section 5", rises_of("algorithm 1", True), "algorithm 1"),
        figures.row("Algorithm 1 and projected gradients converge at the same order of speed, in f - f*", "section 5, figure 3",
                    same_order("algorithm 1"), "algorithm 1"),
        figures.row("Frank-Wolfe often converges faster in f - f* (exact step)", "section 5, figure 3", faster("fw, exact step"),
                    "fw, exact step", most=True),
    ]
    return (found if figures.by_set else []) + nonsmooth_rows(paths)
