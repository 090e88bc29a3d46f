"""The claims of the k-support paper, judged by what logistic.py and pursuit.py measured."""

import statistics

import logistic
import pursuit
from common.verdicts import lower, verdict
from methods import ADMM, FEW, METHODS, OURS, PROXIMAL, PUBLISHED, RULE, excess, flags, spread

PLOT = "a plot, no numbers"
DECADES = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6]
STEADY = 3  # a rate is linear if no later decade takes more than this many times the iterations of the first
OPTIONS = {one.name: one.options for one in METHODS}


def shown(method, options):
    """The command of a row."""
    return f"cleave {method} -k K {' '.join(flags(options))}"


def of_logistic(name):
    """The command of a method on the synthetic data, which bench/ksupport.c makes."""
    words = {**OPTIONS[name], **(logistic.OF_LOGISTIC if name == PUBLISHED else {}), **RULE}
    return shown("ksupport X.npy y.npy --transposed --lambda L --ridge 1e-3 --threads 1", words)


def of_pursuit(name):
    """The command of a method on digits."""
    return shown(f"pursuit digits.npy --lambda {pursuit.LAMBDA} --scale unit-rows --threads 1", {**OPTIONS[name], **RULE})


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


def least_row(claim, where, title, study_runs, rivals, what, unit, command, ours=True):
    """Whether k-FCFW has less of something than every rival at every k; better: ours has less still."""
    names = [PUBLISHED, *([OURS] if ours else []), *rivals, *(["FISTA, ours"] if ours else [])]
    failing = [f"k = {k}: {spread(values(runs, PUBLISHED, what))} against {spread(values(runs, rival, what))} of {rival}"
               for k, runs in study_runs.items() for rival in rivals if not less(runs, PUBLISHED, rival, what)]
    beyond = ours and all(less(runs, OURS, PUBLISHED, what) for runs in study_runs.values())
    return verdict(claim, where, PLOT, f"{title}: {compared(study_runs, names, what, unit)}", command, not failing, "; ".join(failing), beyond)


def proximity_row(title, study_runs, where, command):
    """AS against the two others."""
    failing = [f"k = {k}: {spread(values(runs, 'FISTA-AS', 'seconds'))} s against {spread(values(runs, rival, 'seconds'))} of {rival}"
               for k, runs in study_runs.items() for rival in PROXIMAL[:2] if not less(runs, "FISTA-AS", rival, "seconds")]
    return verdict("AS is the fastest of the three proximity operators in FISTA", where, PLOT,
                   f"{title}: {compared(study_runs, PROXIMAL, 'seconds', ' s')}", command, not failing, "; ".join(failing))


def admm_rows(title, study_runs, where, command):
    """Slower than the others; does not reach the accuracy."""
    rivals = [PUBLISHED, *PROXIMAL]
    failing = [f"k = {k}: {spread(values(runs, ADMM, 'seconds'))} s against {spread(values(runs, rival, 'seconds'))} of {rival}"
               for k, runs in study_runs.items() for rival in rivals if not less(runs, rival, ADMM, "seconds")]
    slow = verdict("ADMM-AS is slower than k-FCFW and the proximal gradient methods", where, PLOT,
                   f"{title}: {compared(study_runs, [ADMM, 'ADMM-AS, balanced', *rivals], 'seconds', ' s')}", command, not failing, "; ".join(failing))
    runs = [run for by_method in study_runs.values() for run in by_method[ADMM]]
    balanced = [run for by_method in study_runs.values() for run in by_method["ADMM-AS, balanced"]]
    ended = sum(run.ended for run in runs)
    far = verdict("ADMM-AS fails to converge to the accuracy wanted", where, "said, no numbers",
                  f"{title}: {ended} of {len(runs)} runs ended by the rule, {statistics.mean(map(excess, runs)):.1e} above F* on average; with rho balanced "
                  f"{sum(run.ended for run in balanced)}, {statistics.mean(map(excess, balanced)):.1e} above", command, ended < len(runs) / 2,
                  f"{ended} of {len(runs)} runs came to it")
    return [slow, far]


def ratio_row(title, study_runs, where, command):
    """Whether the advantage grows with k."""
    ks = list(study_runs)
    by_k = {k: [b / a for a, b in zip(values(study_runs[k], PUBLISHED, "seconds"), values(study_runs[k], "FISTA-AS", "seconds"), strict=True)]
            for k in (ks[0], ks[-1])}
    first, last = by_k.values()
    grows = lower(last, first) if len(first) > 1 else last[0] > first[0]
    figures = ", ".join(f"k = {k}: {spread(found)} times" for k, found in by_k.items())
    return verdict("The advantage of k-FCFW grows with k", where, PLOT, f"{title}: seconds of FISTA-AS over those of k-FCFW, {figures}", command, grows,
                   figures)


def iterations_of(curve):
    """Iterations that each decade of F / F* - 1 took, as far as the curve goes."""
    reached = [next((t for t, _, value in curve if value <= level), None) for level in DECADES]
    return [b - a for a, b in zip(reached, reached[1:]) if a is not None and b is not None]


def theory_rows(study):
    """Theorem 1 and Remark 2."""
    rows, words = [], {**OPTIONS[PUBLISHED], **logistic.OF_LOGISTIC, "tol": "1e-8"}
    by_k = {k: iterations_of(curve) for k, curve in study.rates.items()}
    counts = "; ".join(f"k = {k}: {', '.join(map(str, found))}" for k, found in by_k.items())
    steady = all(len(found) == len(DECADES) - 1 and max(found) <= STEADY * max(found[0], 1) for found in by_k.values())
    rows.append(verdict("k-FCFW converges linearly", "Theorem 1", "a theorem",
                        f"{study.size.title}: iterations from F / F* - 1 = 1e-2 to 1e-3, to 1e-4, to 1e-5, to 1e-6: {counts}",
                        shown("ksupport X.npy y.npy --transposed --lambda L --ridge 1e-3", {**words, "inner-accuracy": "1e-12"}), steady,
                        f"a later decade takes more than {STEADY} times the iterations of the first, or is not reached ({counts})"))
    figures = "; ".join(f"k = {k}: " + ", ".join(f"{accuracy}: {found:.1e}" for accuracy, found in by.items()) for k, by in study.inexact.items())
    holds = all(found <= float(accuracy) for by in study.inexact.values() for accuracy, found in by.items())
    rows.append(verdict("Errors of the corrections do not accumulate: F ends within their size of F*", "Remark 2", "a remark",
                        f"{study.size.title}: accuracy of the corrections, as a share of F, and F / F* - 1 at the end: {figures}",
                        shown("ksupport X.npy y.npy --transposed --lambda L --ridge 1e-3", {**words, "inner-accuracy": "E"}), holds,
                        "a run ends farther away"))
    return rows


def logistic_rows(protocol, full):
    """Figure 1 and the theory."""
    where, command, title = "section 4.1, figure 1(a)", of_logistic(PUBLISHED), protocol.size.title
    faster = "Logistic: k-FCFW is significantly faster than FISTA with any of the three proximity operators"
    rows = [least_row(faster, where, f"{title}, {protocol.size.replications} replications", protocol.runs, PROXIMAL, "seconds", " s", command)]
    if full:
        rows.append(least_row("Logistic: k-FCFW is significantly faster than FISTA-AS", where, f"{full.size.title}, one replication", full.runs,
                              [PROXIMAL[2]], "seconds", " s", command))
    rows.append(least_row("Logistic: k-FCFW needs significantly fewer iterations", "section 4.1, figure 1(b)", title, protocol.runs, [*PROXIMAL, ADMM],
                          "iterations", "", command, ours=False))
    rows.append(proximity_row(title, protocol.runs, "section 4.1", of_logistic("FISTA-AS")))
    return rows + admm_rows(title, protocol.runs, where, of_logistic(ADMM)) + theory_rows(protocol)


def pursuit_rows(studies):
    """Figures 2 and 3."""
    rows = []
    for study in studies:
        few = study.size.methods == FEW
        title = f"{study.name}, {study.size.replications} replication{'s' if study.size.replications > 1 else ''}"
        rivals = [PROXIMAL[2]] if few else [*PROXIMAL, ADMM]
        rows.append(least_row(f"{study.name}: k-FCFW is the most efficient", "section 4.2, figure 2", title, study.runs, rivals, "seconds", " s",
                              of_pursuit(PUBLISHED)))
        rows.append(ratio_row(title, study.runs, "section 4.2", of_pursuit(PUBLISHED)))
        if not few:
            rows.append(least_row(f"{study.name}: k-FCFW needs fewer iterations", "section 4.2, figure 3", title, study.runs, [*PROXIMAL, ADMM],
                                  "iterations", "", of_pursuit(PUBLISHED), ours=False))
    return rows


def rows(logistic_studies, pursuit_studies):
    """All verdicts."""
    protocol, *full = logistic_studies
    return logistic_rows(protocol, full[0] if full else None) + pursuit_rows(pursuit_studies)
