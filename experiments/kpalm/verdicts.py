"""The claims of the slides, judged by what iris.py and gaussians.py measured."""

import os
import statistics
import tempfile
from math import sqrt

import gaussians
import iris
from common import npy
from common.verdicts import failing, lower, paired, verdict

PLOT = "a plot, no numbers"
SQUARED, ALPHAS, GAUSSIANS = "Numerical results: the squared norm", "Numerical results: updates of alpha", "Numerical results: eps-KPALM"
SIMILAR = 0.02  # means that differ by less than this share of the lower one are called similar


def mean(values):
    """Short for what every row needs."""
    return statistics.mean(values)


DRAWN = "how the slides' data were drawn is not printed"


def shown(starts, options):
    """The command of a row on iris."""
    return f"cleave kpalm {iris.FILE} -k 3 --restarts {starts} --seed 1 {' '.join(options)}"


def iris_rows(study):
    """Starts and iterations."""
    rows, names = [], list(iris.ALGORITHMS)
    for start in ("random", "kmeans++"):
        kmeans, slides, ours, _ = (study.by_start[start][name] for name in names)
        step, error = paired(kmeans.values, slides.values)
        figures = (f"k-means {mean(kmeans.values):.2f}, KPALM with the slides' alpha {mean(slides.values):.2f} (difference {step:.2f}, "
                   f"standard error {error:.2f}), with the default alpha {mean(ours.values):.2f}; means of {study.starts} starts")
        better = lower(slides.values, ours.values)
        if start == "random":
            rows.append(verdict("From random starts KPALM ends lower than k-means on iris", SQUARED, PLOT, figures,
                                shown(study.starts, slides.options), lower(kmeans.values, slides.values),
                                failing(["random starts"]), better))
        else:
            apart = abs(step) / min(mean(kmeans.values), mean(slides.values))
            rows.append(verdict(f"From k-means++ starts both end alike (means within {100 * SIMILAR:g} %)", SQUARED, PLOT, figures, shown(study.starts, slides.options),
                                apart <= SIMILAR, failing([f"a difference of {100 * apart:.1f} %"]), better))
    kmeans, slides, ours, _ = (study.by_start["random"][name].iterations for name in names)
    rows.append(verdict("k-means needs fewer iterations than KPALM", SQUARED, PLOT,
                        f"k-means {mean(kmeans):.1f}, KPALM {mean(slides):.1f} (default alpha {mean(ours):.1f}); random starts",
                        shown(study.starts, study.by_start["random"][names[1]].options), lower(slides, kmeans), failing(["random starts"])))
    return rows


def schedule_rows(study):
    """A falling alpha, for both norms."""
    rows = []
    for norm, name in iris.NORMS.items():
        by = {schedule: study.by_schedule[norm, "diameter", schedule, "same"] for schedule in iris.SCHEDULES}
        constant, falling = by["constant"], [by["1 / t"], by["1 / 2^t"]]
        figures = ", ".join(f"{schedule}: {mean(one.iterations):.1f} iterations to {mean(one.values):.2f}" for schedule, one in by.items())
        faster = all(lower(constant.iterations, one.iterations) for one in falling)
        apart = max(abs(mean(one.values) / mean(constant.values) - 1) for one in falling)
        why = failing(["the iterations"] if not faster else [f"the objectives, which differ by {100 * apart:.1f} %"])
        rows.append(verdict(f"{name}: alpha = diam / t and diam / 2^t converge faster than a constant alpha (objectives within {100 * SIMILAR:g} %)", ALPHAS, PLOT, figures,
                            shown(study.starts, falling[1].options), faster and apart <= SIMILAR, why))
    return rows


def theory_rows(study, cleave):
    """What the propositions promise, along the curves; and the constant that Proposition 5 prints."""
    rows = []
    for norm, where in (("squared", "Proposition 1"), ("euclidean", "Proposition 5")):
        least = min(min(found) for choice, found in study.decreases.items() if choice[0] == norm)
        steps = sum(len(found) for choice, found in study.decreases.items() if choice[0] == norm)
        what = "alpha, beta" if norm == "squared" else "alpha, L"
        rows.append(verdict(f"{iris.NORMS[norm]}: sigma falls by at least rho_1 |z(t+1) - z(t)|^2 in every step", where,
                            f"rho_1 > 0 exists (here 1/2 min({what}))",
                            f"the least ratio of the two is {least:.3f} over {steps} steps of all schedules and alphas",
                            f"cleave kpalm {iris.FILE} -k 3 --start random --seed 1 --norm {norm} --no-polish --trace t.csv", least >= 1,
                            failing([f"a ratio of {least:.6f}"])))
    fall, printed = counterexample(cleave)
    rows.append(verdict("eps-KPALM: rho_1 = 1/2 min(alpha, beta / (d^2 + eps^2)^(1/2)), beta = 2 min_l sum_i w_il", "proof of Proposition 5",
                        "that formula", f"99 points at 0, one at 1, x(0) = 1, eps = 0.3: sigma falls by {fall:.1f}, the formula asks for {printed:.1f}",
                        ["cleave kpalm x.npy -k 1 --norm euclidean --epsilon 0.3 --start c.npy --max-iter 1 --json -",
                         "(x.npy: 99 rows of 0 and one of 1; c.npy: one row of 1)"], fall >= printed,
                        f"{fall:.1f} < {printed:.1f}; {'half' if fall >= printed / 2 else 'not even half'} of it holds. Proposition 3 (i), which "
                        "the proof uses, gives beta / 2 over the root (docs/kpalm.md)."))
    for norm, where in (("squared", "Theorem 4"), ("euclidean", "Theorem 6")):
        found = [one for choice, one in study.by_schedule.items() if choice[0] == norm]
        ended = [flag for one in found for flag in one.converged]
        rows.append(verdict(f"{iris.NORMS[norm]} converges to a critical point", where, "a theorem",
                            f"{sum(ended)} of {len(ended)} runs (all schedules and alphas) end at one",
                            shown(study.starts, found[0].options), all(ended), failing([f"{len(ended) - sum(ended)} runs"])))
    return rows


def counterexample(cleave):
    """(decrease of sigma, what the printed constant asks for) of one step."""
    with tempfile.TemporaryDirectory() as folder:
        data, start = os.path.join(folder, "x.npy"), os.path.join(folder, "c.npy")
        npy.write_rows(data, [[0.0]] * 99 + [[1.0]])
        npy.write_rows(start, [[1.0]])
        fixed = ["-k", 1, "--norm", "euclidean", "--epsilon", 0.3, "--start", start, "--centers", os.path.join(folder, "x1.npy")]
        before, after = (cleave.result("kpalm", data, *fixed, "--max-iter", steps)["objective"]["value"] for steps in (0, 1))
        (moved,), = npy.rows(os.path.join(folder, "x1.npy"))
    return before - after, 0.5 * 2 * 100 / sqrt(1 + 0.3 ** 2) * (1 - moved) ** 2


def gaussian_row(results, design, claim, better, worse, reason=DRAWN):
    """Whether one norm is nearer to the truth than the other from all starts."""
    found = results[design]
    pairs = {start: (found[start, worse]["vi"], found[start, better]["vi"]) for start in gaussians.STARTS}
    figures = "; ".join(f"{start} starts: {better} {mean(b):.3f}, {worse} {mean(a):.3f} (difference {paired(a, b)[0]:.3f}, standard error "
                        f"{paired(a, b)[1]:.3f})" for start, (a, b) in pairs.items())
    missed = [f"{start} starts" for start, (a, b) in pairs.items() if not lower(a, b)]
    sets = len(next(iter(pairs.values()))[0])
    fixed = f"cleave kpalm data/{gaussians.stem_of(design)}-N.npy -k {gaussians.K} --restarts {gaussians.RESTARTS} --seed N --start START --truth data/{gaussians.stem_of(design)}-N.y.npy"
    commands = ["experiments/kpalm/run data data", *(f"{fixed} {' '.join(gaussians.ALGORITHMS[name])}" for name in (better, worse)),
                f"(N: 0 to {sets - 1}; START: {', '.join(gaussians.STARTS)})"]
    return verdict(f"{claim} (VI lower by more than two standard errors from all starts)", GAUSSIANS, PLOT, f"VI: {figures}; {sets} data sets", commands,
                   not missed, failing(missed, reason))


def rows(study, results, cleave, tests):
    """All verdicts."""
    found = iris_rows(study) + schedule_rows(study) if study else []
    found.append(gaussian_row(results, "dense", "Disjoint hulls: the squared norm is preferable", "KPALM", "eps-KPALM",
                              f"with these data both find nearly the same clusters; {DRAWN}"))
    found.append(gaussian_row(results, "sparse", "Sparse Gaussians: eps-KPALM is nearer to the clusters that were put there", "eps-KPALM", "KPALM",
                              f"ours overlap and have no outliers, which is what the norm is for; {DRAWN}"))
    for design in ("outliers, 10 %", "heavy tails"):
        found.append(gaussian_row(results, design, f"Outliers ({design}): eps-KPALM is nearer to the clusters that were put there",
                                  "eps-KPALM", "KPALM"))
    found += theory_rows(study, cleave) if study else []
    for norm, number in (("KPALM", 2), ("eps-KPALM", 6)):
        found.append(tests.row(f"{norm}: gamma(t) is a subgradient, at most rho_2 |z(t) - z(t-1)| long", f"Proposition {number}", "theory_holds"))
    return found
