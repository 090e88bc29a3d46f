"""The claims of the simplicial NMF paper, judged by what study.py and nonsmooth.py measured with the kernel of the paper."""

from common.verdicts import UNKNOWN, failing, verdict
from nonsmooth import lowest
from study import KERNELS, LARGE, MOST, PAPER_CHANGE, PAPER_ITERATIONS, SOLVERS

PLOT = "a plot, no numbers"
TIMES = 10  # "orders of magnitude" is at least this; "the same order" is less
CLOSE = 0.1  # two values of f agree if they differ by less than this share
NEAR = 1e-2  # a run is near its own end when this share of f - f* is left; it has come to one when its gap is this share of f
STOPPED = f"--change {PAPER_CHANGE:g} --max-iter {PAPER_ITERATIONS}"
RULE = f"by the paper's rule (change of f below {PAPER_CHANGE:g}, or {PAPER_ITERATIONS} iterations)"
UNCAPPED = f"{MOST} iterations at most, {PAPER_ITERATIONS} from {LARGE} objects on"

SHORT = ("the step gap / C takes for C the bound of Theorem 3, which grows with n^2 and is far above the curvature that is met: the steps are too "
         "short, and with exact steps the method does come down")
PENALTY = "most of the six parameters of the penalty method are not printed; which of ours make the difference is not known"
MONOTONE = "it cannot be: with C at least the curvature, (16) in the proof of Theorem 2 says that no step gap / C raises f"


def stopped(run):
    """(f, iterations, seconds) where the rule of the paper ends a run, or where it was ended before."""
    at = len(run.course["objective"]) - 1 if run.stopped is None else run.stopped
    return run.course["objective"][at], at, run.course["seconds"][at] - run.course["seconds"][0]


def is_cut(run):
    """Whether processor time ended it before the rule of the paper."""
    return run.stopped is None and run.result["stop"] == "cancelled"


def said(run, value, unit=""):
    """A figure at the stop of the paper; where the run was cut before that, this is said."""
    return f"{value:.6g}{unit}{f' (cut short after {stopped(run)[1]} iterations)' if is_cut(run) else ''}"


def has_ended(run):
    """Whether its last f is the f* of the solver."""
    return run.result["certificate"]["value"] <= NEAR * run.result["objective"]["value"]


def spent_until(run, bar):
    """(iterations, seconds) until f is as low as this."""
    at = next(t for t, f in enumerate(run.course["objective"]) if f <= bar)
    return at, run.course["seconds"][at] - run.course["seconds"][0]


def near_end(run):
    """Seconds until all but NEAR of f - f* is gone, f* the solver's own end."""
    values = run.course["objective"]
    return spent_until(run, min(values) + NEAR * (values[0] - min(values)))[1]


def common_level(one, other):
    """The f that both came to, but for NEAR of it or of the way, which is little where f is nearly what it was at the start."""
    least = max(min(run.course["objective"]) for run in (one, other))
    return least + NEAR * min(least, one.course["objective"][0] - least)


def rises(run):
    """Iterations in which f rose, by more than rounding."""
    values = run.course["objective"]
    return sum(b > a * (1 + 1e-12) for a, b in zip(values, values[1:]))


def commands(sets, names, ending):
    """Of these solvers, with the data that they were run on."""
    fixed = f"cleave symnmf SET.X.npy -k K {' '.join(KERNELS['paper'])} --start random --seed 1"
    return [*(f"{fixed} {' '.join(SOLVERS[name])} {ending}" for name in names), f"(SET, K: {'; '.join(f'{s.name}, {s.k}' for s in sets)})"]


class Figures:
    """What a claim on all data sets is judged by: a sentence and a truth value a set, None where it cannot be told."""

    def __init__(self, studies):
        self.sets = [s.set for s in studies if s.kernel == "paper"]
        self.by_set = {s.set.name: {run.solver: run for run in s.runs} for s in studies if s.kernel == "paper"}

    def row(self, claim, where, judge, solvers, ending=STOPPED, most=False, better=None, reason=UNKNOWN):
        """`judge(runs)` gives (whether it holds, figures) of a set; `most`: more than half of the sets are enough."""
        found = {name: judge(runs) for name, runs in self.by_set.items()}
        judged = {name: holds for name, (holds, _) in found.items() if holds is not None}
        missed = [name for name, holds in judged.items() if not holds]
        holds = bool(judged) and (2 * len(missed) < len(judged) if most else not missed)
        figures = "; ".join(f"{name}{'' if name in judged else ' (not judged)'}: {words}" for name, (_, words) in found.items())
        beyond = better is not None and all(better(runs) for runs in self.by_set.values())
        return verdict(claim, where, PLOT, figures, commands(self.sets, solvers, ending), holds,
                       failing(missed, reason) if missed else "no set could be judged", beyond)


def slower(name):
    """The penalty method against another, by seconds; one that was cut short was slower if it was so by then."""
    def judge(runs):
        own, other = stopped(runs["penalty"])[2], stopped(runs[name])[2]
        slow = own >= TIMES * other
        return None if not slow and is_cut(runs["penalty"]) else slow, f"{said(runs['penalty'], own, ' s')}, {name} {said(runs[name], other, ' s')}"
    return judge


def worse(name):
    """The penalty method against another, by f."""
    def judge(runs):
        own, other = stopped(runs["penalty"])[0], stopped(runs[name])[0]
        return None if is_cut(runs["penalty"]) else own > other, f"f = {said(runs['penalty'], own)}, {name} {said(runs[name], other)}"
    return judge


def as_low(name):
    """Frank-Wolfe against projected gradients, by f."""
    def judge(runs):
        own, other = stopped(runs[name])[0], stopped(runs["pgd"])[0]
        return own <= (1 + CLOSE) * other, f"f = {said(runs[name], own)} after {stopped(runs[name])[1]} iterations, pgd {said(runs['pgd'], other)}"
    return judge


def cheaper(name):
    """Frank-Wolfe against projected gradients down to the same f: more iterations in less time."""
    def judge(runs):
        level = common_level(runs[name], runs["pgd"])
        (many, own), (few, other) = spent_until(runs[name], level), spent_until(runs["pgd"], level)
        return many > few and own < other, f"to f = {level:.6g}: {many} iterations in {own:.3g} s, pgd {few} in {other:.3g} s"
    return judge


def rises_of(name, wanted):
    """Whether f rises in some iteration, as the claim wants it or not."""
    def judge(runs):
        count = rises(runs[name])
        return (count > 0) == wanted, f"{count} of {len(runs[name].course['objective']) - 1} iterations"
    return judge


def end_of(run, seconds):
    """Seconds to a run's own end, and whether there was one."""
    return f"{seconds:.3g} s{'' if has_ended(run) else ', and no end of its own'}"


def same_order(name):
    """Frank-Wolfe against projected gradients: seconds to the own end."""
    def judge(runs):
        own, other = max(near_end(runs[name]), 1e-4), max(near_end(runs["pgd"]), 1e-4)
        alike = has_ended(runs[name]) and 1 / TIMES < own / other < TIMES
        return alike if has_ended(runs["pgd"]) else None, f"{end_of(runs[name], own)}, pgd {end_of(runs['pgd'], other)}"
    return judge


def faster(name):
    """The same, by which is first."""
    def judge(runs):
        own, other = near_end(runs[name]), near_end(runs["pgd"])
        ended = has_ended(runs[name]) and has_ended(runs["pgd"])
        return own < other if ended else None, f"{end_of(runs[name], own)}, pgd {end_of(runs['pgd'], other)}"
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


def penalty_rows(figures):
    """A row a rival."""
    rows = []
    for name in ("pgd", "algorithm 1"):
        rows.append(figures.row(f"The penalty method is orders of magnitude slower than {name} (here: takes at least {TIMES} times as long; {RULE})",
                                "section 5, figure 2", slower(name), ["penalty", name], reason=PENALTY))
        rows.append(figures.row(f"The penalty method usually (on more than half of the sets) ends at a worse point than {name} ({RULE})",
                                "section 5, figure 2", worse(name), ["penalty", name], most=True, reason=PENALTY))
    return rows


def rate_rows(figures):
    """Frank-Wolfe with both steps against projected gradients."""
    one, exact, long = "algorithm 1", "fw, exact step", f"--max-iter {MOST}"
    return [
        figures.row(f"Algorithm 1 (step gap / C) comes down like projected gradients (f at most {100 * CLOSE:g} % above; {RULE})", "figure 2", as_low(one),
                    [one, "pgd"], reason=SHORT),
        figures.row(f"Frank-Wolfe with an exact step comes down like projected gradients (f at most {100 * CLOSE:g} % above; {RULE})", "figure 2",
                    as_low(exact), [exact, "pgd", "rows"], better=ours_beyond),
        figures.row(f"Algorithm 1 takes more iterations than projected gradients, and less time (to the same f: the higher of both ends plus "
                    f"{100 * NEAR:g} % of it, or of the way to it if that is less; {UNCAPPED})", "section 5, figure 2", cheaper(one), [one, "pgd"], long, reason=SHORT),
        figures.row(f"Frank-Wolfe with an exact step takes more iterations than projected gradients, and less time (the same; {UNCAPPED})",
                    "section 5, figure 2", cheaper(exact), [exact, "pgd"], long),
        figures.row(f"f never rises in projected gradients with backtracking ({UNCAPPED})", "section 5", rises_of("pgd", False), ["pgd"], long),
        figures.row(f"f rises at times in Frank-Wolfe ({UNCAPPED})", "section 5", rises_of(one, True), [one], long, reason=MONOTONE),
        figures.row(f"Algorithm 1 and projected gradients converge at the same order of speed, in f - f* (less than {TIMES} times apart until "
                    f"{100 * NEAR:g} % of it is left; f* where the gap is {100 * NEAR:g} % of f; {UNCAPPED})", "section 5, figure 3", same_order(one),
                    [one, "pgd"], long, reason=SHORT),
        figures.row(f"Frank-Wolfe often (on more than half of the sets) converges faster in f - f* (exact step, the same measure; {UNCAPPED})",
                    "section 5, figure 3", faster(exact), [exact, "pgd"], long, most=True),
    ]


def theory_rows(tests):
    """What the certificate tests check on random problems."""
    return [
        tests.row("The gap is 0 exactly at KKT points", "Theorem 1", "the_gap_is_0_at_kkt_points_only", "solutions_are_kkt_points"),
        tests.row("The least gap of T steps of algorithm 1 is at most max(2 h0 C, sqrt(2 h0 C)) / sqrt(T + 1)", "Theorem 2", "frank_wolfe_keeps_its_promise"),
        tests.row("The curvature is of order n^2: both bounds", "Theorem 3", "the_curvature_is_bounded", "the_curvature_is_not_small"),
    ]


def rows(studies, paths, tests):
    """All verdicts."""
    figures = Figures(studies)
    found = penalty_rows(figures) + rate_rows(figures) if figures.by_set else []
    return found + theory_rows(tests) + nonsmooth_rows(paths)
