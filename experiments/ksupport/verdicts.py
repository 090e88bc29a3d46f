"""The claims of the k-support paper, judged by what logistic.py and pursuit.py measured."""

import statistics
from collections import Counter

import logistic
import pursuit
from common.verdicts import UNKNOWN, failing, lower, verdict
from methods import ADMM, FEW, METHODS, OURS, PROXIMAL, PUBLISHED, RULE, excess, flags, spread

PLOT = "a plot, no numbers"
DECADES = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6]
OPTIONS = {one.name: one.options for one in METHODS}
BEYOND = "by more than two standard errors at every k"
SETUP = "seconds without the finding of L, which the paper does not say how it is had"
OPERATORS = ("the iterations are the same ones, and the pass over X is most of each: what the operators differ by is less than the spread; the paper's "
             "machine and code of BN and BS are not known")
RULES = "neither rho nor the maximum number of iterations is printed; with rho = 1 and the iterations that the command allows it does"


def of_logistic(study, names, more=RULE, replications=None):
    """The commands of methods on the synthetic data: the program that makes them, and what it is asked."""
    asked = []
    for name in names:
        words = {"k": "K", "lambda": "L", "ridge": f"{logistic.RIDGE:g}", **OPTIONS[name], **(logistic.OF_LOGISTIC if name == PUBLISHED else {}), **more}
        asked.append(" ".join(f"{key} {value}" for key, value in words.items()))
    return [*logistic.data_of(study.size, replications or study.size.replications), *asked]


def of_pursuit(study, names):
    """The commands of methods on digits: the one that writes the files, and those that read them."""
    last = study.size.replications - 1
    fixed = f"cleave pursuit digits/{study.name}-R.npy -k K --lambda {pursuit.LAMBDA} --scale unit-rows --threads 1"
    return ["experiments/ksupport/run digits digits", *(f"{fixed} {' '.join(flags({**OPTIONS[name], **RULE}))}" for name in names),
            f"(R: {f'0 to {last}' if last else '0'}; K: {', '.join(map(str, study.runs))})"]


def title_of(study):
    """What was measured, in words."""
    size = study.size
    name = getattr(study, "name", None) or f"p = {size.features}, M = {size.samples}, p' = {size.relevant}"
    return f"{name}, {size.replications} replication{'s' if size.replications > 1 else ', so that there is no spread'}"


def problem_of(study):
    """How hard the logistic problems are, and the lambda that was chosen."""
    parts = []
    for k, weights in study.weights.items():
        chosen = ", ".join(f"{weight:g}{f' ({count} times)' if len(weights) > 1 else ''}" for weight, count in sorted(Counter(weights).items()))
        parts.append(f"k = {k}: AUC {spread(study.areas[k], 2)}, lambda {chosen}")
    return "; ".join(parts)


def values(runs, name, what):
    """A measure of all replications."""
    return [getattr(run, what) for run in runs[name]]


def less(runs, first, second, what):
    """Whether `first` has less of it than `second`: beyond two standard errors, or of one replication plainly."""
    mine, other = values(runs, first, what), values(runs, second, what)
    return lower(other, mine) if len(mine) > 1 else mine[0] < other[0]


def compared(study_runs, names, what, unit):
    """Means and spreads by k."""
    return "; ".join(f"k = {k}: " + ", ".join(f"{name} {spread(values(runs, name, what))}" for name in names) + unit for k, runs in study_runs.items())


def not_less(study_runs, first, rivals, what):
    """Where `first` has no less of it than a rival."""
    return [f"{rival} at k = {k}" for k, runs in study_runs.items() for rival in rivals if not less(runs, first, rival, what)]


def setups(study_runs):
    """What the finding of L took, which is not in the seconds."""
    found = [run.setup for runs in study_runs.values() for run in runs["FISTA-AS"]]
    return f"; finding L by power iterations took FISTA another {spread(found)} s"


def least_row(claim, where, study, rivals, what, commands, ours=True, reason=UNKNOWN, more=""):
    """Whether k-FCFW has less of something than every rival at every k; better: ours has less still."""
    names = [PUBLISHED, *([OURS] if ours else []), *rivals, *(["FISTA, ours"] if ours else [])]
    missed = not_less(study.runs, PUBLISHED, rivals, what)
    beyond = ours and all(less(runs, OURS, PUBLISHED, what) for runs in study.runs.values())
    figures = f"{title_of(study)}: {compared(study.runs, names, what, ' s' if what == 'seconds' else '')}{setups(study.runs) if what == 'seconds' else ''}"
    return verdict(claim, where, PLOT, figures + more, commands(study, names), not missed, failing(missed, reason), beyond)


def proximity_row(study, where):
    """AS against the two others."""
    missed = not_less(study.runs, "FISTA-AS", PROXIMAL[:2], "seconds")
    return verdict(f"AS is the fastest of the three proximity operators in FISTA ({BEYOND}; {SETUP})", where, PLOT,
                   f"{title_of(study)}: {compared(study.runs, PROXIMAL, 'seconds', ' s')}", of_logistic(study, PROXIMAL), not missed,
                   failing(missed, OPERATORS))


def admm_rows(study, where):
    """Slower than the others; does not reach the accuracy."""
    rivals, balanced_name = [PUBLISHED, *PROXIMAL], "ADMM-AS, balanced"
    missed = [f"{rival} at k = {k}" for k, runs in study.runs.items() for rival in rivals if not less(runs, rival, ADMM, "seconds")]
    slow = verdict(f"ADMM-AS is slower than k-FCFW and the proximal gradient methods ({BEYOND}; {SETUP})", where, PLOT,
                   f"{title_of(study)}: {compared(study.runs, [ADMM, balanced_name, *rivals], 'seconds', ' s')}{setups(study.runs)}",
                   of_logistic(study, [ADMM, balanced_name, *rivals]), not missed, failing(missed))
    runs = [run for by_method in study.runs.values() for run in by_method[ADMM]]
    balanced = [run for by_method in study.runs.values() for run in by_method[balanced_name]]
    ended = sum(run.ended for run in runs)
    far = verdict("ADMM-AS fails to converge to the accuracy wanted (in at least half of the runs the rule is not met)", where, "said, no numbers",
                  f"{title_of(study)}: {ended} of {len(runs)} runs ended by the rule, {statistics.mean(map(excess, runs)):.1e} above F* on average; with rho balanced "
                  f"{sum(run.ended for run in balanced)}, {statistics.mean(map(excess, balanced)):.1e} above", of_logistic(study, [ADMM, balanced_name]),
                  ended < len(runs) / 2, failing([f"{ended} of {len(runs)} runs"], RULES))
    return [slow, far]


def ratio_row(study, where):
    """Whether the advantage grows with k."""
    runs, ks = study.runs, list(study.runs)
    by_k = {k: [b / a for a, b in zip(values(runs[k], PUBLISHED, "seconds"), values(runs[k], "FISTA-AS", "seconds"), strict=True)]
            for k in (ks[0], ks[-1])}
    first, last = by_k.values()
    grows = lower(last, first) if len(first) > 1 else last[0] > first[0]
    figures = ", ".join(f"k = {k}: {spread(found)} times" for k, found in by_k.items())
    first_count, last_count = ({name: statistics.mean(values(runs[k], name, "iterations")) for name in (PUBLISHED, "FISTA-AS")} for k in by_k)
    growth = {name: last_count[name] / first_count[name] for name in first_count}
    reason = (f"its iterations grow by the factor {growth[PUBLISHED]:.2g} between them, those of FISTA-AS by {growth['FISTA-AS']:.2g}"
              if growth[PUBLISHED] > growth["FISTA-AS"] else UNKNOWN)
    return verdict(f"{study.name}: the advantage of k-FCFW grows with k (from the least to the largest; {SETUP})", where, PLOT,
                   f"{title_of(study)}: seconds of FISTA-AS over those of k-FCFW, {figures}", of_pursuit(study, [PUBLISHED, "FISTA-AS"]), grows,
                   failing([study.name], reason))


def iterations_of(curve):
    """Iterations that each decade of F / F* - 1 took, as far as the curve goes."""
    reached = [next((t for t, _, value in curve if value <= level), None) for level in DECADES]
    return [b - a for a, b in zip(reached, reached[1:]) if a is not None and b is not None]


def theory_rows(study, tests):
    """Theorem 1 and Remark 2."""
    rows, exact = [], {"tol": "1e-8", "max-iter": "200", "rule": "gap"}
    counts = "; ".join(f"k = {k}: {', '.join(map(str, iterations_of(curve)))}" for k, curve in study.rates.items())
    rows.append(tests.row("k-FCFW converges linearly: F - F* after t steps is at most (1 - zeta)^t of the first", "Theorem 1", "test_linear_rate",
                          more=f"measured besides, at p = {study.size.features}: iterations from F / F* - 1 = 1e-2 to 1e-3, to 1e-4, to 1e-5, to 1e-6: {counts}",
                          commands=of_logistic(study, [PUBLISHED], {**exact, "inner-accuracy": "1e-12"}, 1)))
    figures = "; ".join(f"k = {k}: " + ", ".join(f"{accuracy}: {found:.1e}" for accuracy, found in by.items()) for k, by in study.inexact.items())
    missed = [f"k = {k}, {accuracy}" for k, by in study.inexact.items() for accuracy, found in by.items() if found > float(accuracy)]
    rows.append(verdict("Errors of the corrections do not accumulate: F ends within their size of F*", "Remark 2", "a remark",
                        f"p = {study.size.features}, seed 1: accuracy of the corrections, as a share of F, and F / F* - 1 at the end: {figures}",
                        of_logistic(study, [PUBLISHED], {**exact, "inner-accuracy": "E"}, 1), not missed, failing(missed)))
    return rows


def logistic_rows(protocol, full, tests):
    """Figure 1 and the theory."""
    where = "section 4.1, figure 1(a)"
    rows = [least_row(f"Logistic, 1/20 of the features: k-FCFW is significantly faster than FISTA with any of the three proximity operators ({BEYOND}; {SETUP})",
                      where, protocol, PROXIMAL, "seconds", of_logistic, more=f". Problems: {problem_of(protocol)}")]
    if full:
        rows.append(least_row(f"Logistic, published size: k-FCFW is faster than FISTA-AS (the least and the largest k, other rivals not measured; {SETUP})", where,
                              full, [PROXIMAL[2]], "seconds", of_logistic, more=f". Problems: {problem_of(full)}"))
    rows.append(least_row(f"Logistic: k-FCFW needs significantly fewer iterations ({BEYOND})", "section 4.1, figure 1(b)", protocol, [*PROXIMAL, ADMM],
                          "iterations", of_logistic, ours=False))
    rows.append(proximity_row(protocol, "section 4.1"))
    return rows + admm_rows(protocol, where) + theory_rows(protocol, tests)


def pursuit_rows(studies):
    """Figures 2 and 3."""
    rows = []
    for study in studies:
        few = study.size.methods == FEW
        rivals = [PROXIMAL[2]] if few else [*PROXIMAL, ADMM]
        measured = "than FISTA-AS at the least and the largest k, the other rivals not measured" if few else BEYOND
        rows.append(least_row(f"{study.name}: k-FCFW is the most efficient ({measured}; {SETUP})", "section 4.2, figure 2", study, rivals, "seconds",
                              of_pursuit))
        rows.append(ratio_row(study, "section 4.2"))
        if not few:
            rows.append(least_row(f"{study.name}: k-FCFW needs fewer iterations ({BEYOND})", "section 4.2, figure 3", study, rivals, "iterations",
                                  of_pursuit, ours=False))
    return rows


def rows(logistic_studies, pursuit_studies, tests):
    """All verdicts."""
    protocol, *full = logistic_studies
    return logistic_rows(protocol, full[0] if full else None, tests) + pursuit_rows(pursuit_studies)
