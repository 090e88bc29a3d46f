"""The claims of the dominant set paper, judged by what the studies measured."""

import csv
import os
import random
import statistics
import tempfile
from math import lgamma, log, sqrt

import multistart
import synthetic
from common import npy
from common.verdicts import lower, paired, verdict
from methods import FRANK_WOLFE, named, options, shown
from newsgroups import K, SHIFTS
from published import STEPS, TABLE_5, TABLES_1_TO_4

VARIANTS = [method.title for method in FRANK_WOLFE]
BEST = ("PFW-V", "AFW-V")
CLOSE = 0.1  # scores that differ by less are called close: the random numbers of the SVD alone move ARI by so much
ALIKE = 0.02  # and by less than this, the same
ROBUST = 0.6  # the noise up to which figure 1 shows ARI near 1
ABOUT_TWO = 2.5  # passes
LAST, FIRST = STEPS[-1], STEPS[0]
TABLES = "tables 1 to 4"


def mean(values):
    """Of any iterable."""
    return statistics.mean(list(values))


# --- tables 1 to 5 ---

def printed(title, number, steps):
    """(seconds, AR, ARI, V) of the paper."""
    return TABLES_1_TO_4[title][number][STEPS.index(steps)]


def command_of(recipe, title, steps):
    """Of a row."""
    return f"cleave dominant newsgroupsN.npy --affinity cosine -k {K} --shift {SHIFTS[recipe]} --assign {shown(named(title), steps)} --truth y.npy"


def per_set(sets, judge):
    """`judge(number, found)` gives (holds, published, ours): whether all hold, both as text, and those that do not."""
    results = {f"set {number + 1}": judge(number, found) for number, found in enumerate(sets)}
    failing = [name for name, (holds, _, _) in results.items() if not holds]
    texts = ["; ".join(f"{name}: {result[column]}" for name, result in results.items()) for column in (1, 2)]
    return not failing, *texts, "; ".join(f"{name}: {results[name][2]}, published {results[name][1]}" for name in failing)


def level_row(sets, recipe, last):
    """Values of the tables."""
    def judge(number, found):
        pairs = [(printed(title, number, last)[1:3], (found[title, last].rate, found[title, last].ari)) for title in BEST]
        near = all(abs(a - b) <= CLOSE for published, ours in pairs for a, b in zip(published, ours))
        return near, *(", ".join(f"{title} AR {pair[side][0]:.3f} ARI {pair[side][1]:.3f}" for title, pair in zip(BEST, pairs)) for side in (0, 1))
    holds, published, ours, missed = per_set(sets, judge)
    return verdict(f"Recipe {recipe}: assignment rate and ARI of PFW-V and AFW-V at t = {last} (within {CLOSE:g})", TABLES, published, ours,
                   command_of(recipe, "PFW-V", last), holds, missed)


def best_row(sets, recipe, last, after):
    """Frank-Wolfe against replicator dynamics, before or after assignment."""
    def judge(number, found):
        ours = {title: found[title, last].ari_after if after else found[title, last].ari for title in (*VARIANTS, "RD")}
        theirs = {title: TABLE_5[title][STEPS.index(last)][number][0] if after else printed(title, number, last)[2] for title in ours}
        words = [f"ARI {min(scores[title] for title in VARIANTS):.3f} to {max(scores[title] for title in VARIANTS):.3f}, RD {scores['RD']:.3f}"
                 for scores in (theirs, ours)]
        return min(ours[title] for title in VARIANTS) > ours["RD"], *words
    holds, published, ours, missed = per_set(sets, judge)
    where = "section 6.4, table 5" if after else f"section 6.4, {TABLES}"
    return verdict(f"Recipe {recipe}: all FW variants have a higher ARI than RD{' after assignment' if after else ''} (t = {last})", where, published,
                   ours, command_of(recipe, "RD", last), holds, missed)


def winner_row(sets, recipe):
    """The best of all after 1000 steps."""
    def judge(number, found):
        values = [{title: printed(title, number, FIRST)[2] for title in (*VARIANTS, "RD")},
                  {title: found[title, FIRST].ari for title in (*VARIANTS, "RD")}]
        best = [max(scores, key=scores.get) for scores in values]
        ahead = max(values[1][title] for title in BEST) >= values[1][best[1]]
        return ahead, *(f"{title} {scores[title]:.3f}" for title, scores in zip(best, values))
    holds, published, ours, missed = per_set(sets, judge)
    return verdict(f"Recipe {recipe}: PFW-V or AFW-V has the highest ARI of all at t = {FIRST}", f"section 6.4, {TABLES}", published, ours,
                   command_of(recipe, "PFW-V", FIRST), holds, missed)


def early_row(sets, recipe):
    """PFW-V and AFW-V after 1000 steps."""
    def judge(number, found):
        ours = [(found[title, FIRST].ari, found[title, LAST].ari) for title in BEST]
        theirs = [(printed(title, number, FIRST)[2], printed(title, number, LAST)[2]) for title in BEST]
        words = [", ".join(f"{title} {a:.3f} then {b:.3f}" for title, (a, b) in zip(BEST, values)) for values in (theirs, ours)]
        return all(a >= b - CLOSE for a, b in ours), *words
    holds, published, ours, missed = per_set(sets, judge)
    return verdict(f"Recipe {recipe}: PFW-V and AFW-V are as good already at t = {FIRST} (ARI within {CLOSE:g} of t = {LAST})", f"section 6.4, {TABLES}",
                   published, ours, command_of(recipe, "PFW-V", FIRST), holds, missed)


def center_rows(sets, recipe):
    """AFW-B: bad early, as good as PFW-B in the end."""
    def early(number, found):
        ours, theirs = found["AFW-B", FIRST], printed("AFW-B", number, FIRST)
        return ours.ari <= found["AFW-V", FIRST].ari / 2, *(f"AR {rate:.3f} ARI {ari:.3f}, AFW-V {other:.3f}" for rate, ari, other in (
            (*theirs[1:3], printed("AFW-V", number, FIRST)[2]), (ours.rate, ours.ari, found["AFW-V", FIRST].ari)))
    holds, published, ours, missed = per_set(sets, early)
    rows = [verdict(f"Recipe {recipe}: AFW-B at t = {FIRST} has less than half the ARI of AFW-V", TABLES, published, ours,
                    command_of(recipe, "AFW-B", FIRST), holds, missed)]

    def late(number, found):
        pairs = [(printed(title, number, LAST)[2], found[title, LAST].ari) for title in ("AFW-B", "PFW-B")]
        return abs(pairs[0][1] - pairs[1][1]) <= ALIKE, *(f"AFW-B {pairs[0][side]:.3f}, PFW-B {pairs[1][side]:.3f}" for side in (0, 1))
    holds, published, ours, missed = per_set(sets, late)
    return rows + [verdict(f"Recipe {recipe}: AFW-B and PFW-B agree at t = {LAST} (ARI within {ALIKE:g})", TABLES, published, ours,
                           command_of(recipe, "AFW-B", LAST), holds, missed)]


def replicator_rows(sets, recipe, last):
    """RD: everything in one cluster early, and its time."""
    def early(number, found):
        ours, theirs = found["RD", FIRST], printed("RD", number, FIRST)
        return ours.rate >= 1 - ALIKE and abs(ours.ari) <= ALIKE, f"AR {theirs[1]:.3f} ARI {theirs[2]:.3f}", f"AR {ours.rate:.3f} ARI {ours.ari:.3f}"
    holds, published, ours, missed = per_set(sets, early)
    rows = [verdict(f"Recipe {recipe}: RD at t = {FIRST} puts everything into one cluster", f"section 6.4, {TABLES}", published, ours,
                    command_of(recipe, "RD", FIRST), holds, missed)]

    def time(number, found):
        theirs, own = printed("RD", number, last)[0], found["RD", last].seconds
        slowest = [max(values) for values in zip(*((printed(title, number, last)[0], found[title, last].seconds) for title in VARIANTS))]
        return own > slowest[1], f"{theirs:.2f} s, FW variants up to {slowest[0]:.2f}", f"{own:.2f} s, FW variants up to {slowest[1]:.2f}"
    holds, published, ours, missed = per_set(sets, time)
    return rows + [verdict(f"Recipe {recipe}: the FW variants take less time than RD (t = {last})", f"section 6.4, {TABLES}", published, ours,
                           command_of(recipe, "RD", last), holds, missed)]


def assignment_row(sets, recipe, last):
    """Table 5 against tables 1 to 4."""
    def judge(number, found):
        ours = [(found[title, last].ari, found[title, last].ari_after) for title in BEST]
        theirs = [(printed(title, number, last)[2], TABLE_5[title][STEPS.index(last)][number][0]) for title in BEST]
        return all(abs(a - b) <= CLOSE for a, b in ours), *(
            ", ".join(f"{title} {a:.3f} and {b:.3f}" for title, (a, b) in zip(BEST, values)) for values in (theirs, ours))
    holds, published, ours, missed = per_set(sets, judge)
    return verdict(f"Recipe {recipe}: ARI before and after assignment are consistent (within {CLOSE:g}, t = {last})", "section 6.4, table 5", published,
                   ours, command_of(recipe, "PFW-V", last), holds, missed)


def newsgroup_rows(by_recipe):
    """Tables 1 to 5, as printed and with what comes closest."""
    rows = []
    for recipe, sets in by_recipe.items():
        last = max(steps for _, steps in sets[0])
        rows += [level_row(sets, recipe, last), best_row(sets, recipe, last, False), best_row(sets, recipe, last, True),
                 assignment_row(sets, recipe, last), *replicator_rows(sets, recipe, last)]
        if last == LAST:
            rows += [level_row(sets, recipe, FIRST), winner_row(sets, recipe), early_row(sets, recipe), *center_rows(sets, recipe)]
    return rows


# --- figures ---

def synthetic_rows(found):
    """Figure 1."""
    robust, spread, of_rd = synthetic.trends(found)
    first, *others = of_rd
    command = f"cleave dominant a.npy --affinity precomputed -k {synthetic.K} --shift {synthetic.SHIFT} {shown(named('PFW-V'), 400)} --truth y.npy"
    ahead = min(mean(value for _, value in synthetic.series(found, panels, title)) - of_rd[panels] for title in VARIANTS for panels in of_rd)
    kept = "none" if robust is None else f"p = {robust:g}"
    by_panels = ", ".join(f"{value:.2f} ({panels})" for panels, value in of_rd.items())
    return [
        verdict("The FW variants are robust to noise", "section 6.2, figure 1", f"ARI near 1 up to p = {ROBUST:g}, by the plot",
                f"all keep ARI >= 0.95 up to {kept}", command, robust is not None and robust >= ROBUST, f"up to {kept} only"),
        verdict("The FW variants have higher scores than RD", "section 6.2, figure 1", "a plot, no numbers",
                f"mean ARI over p: at least {ahead:.2f} more than RD in the same panels ({by_panels})", command, ahead > 0, f"{ahead:.2f} at least"),
        verdict("The FW variants are consistent between configurations", "section 6.2, figure 1", "a plot, no numbers",
                f"largest difference in ARI up to p = 0.6: {spread:.2f}", command, spread <= CLOSE, f"{spread:.2f}"),
        verdict("RD depends on t and on the cutoff", "section 6.2, figure 1", "a plot, no numbers", f"mean ARI over p: {by_panels}", command,
                max(abs(of_rd[first] - of_rd[other]) for other in others) > CLOSE, by_panels)]


def image_row(scores):
    """Figure 2."""
    shifts = sorted({score.shift for score in scores})
    found = {shift: {score.method: mean(score.after) for score in scores if score.shift == shift} for shift in shifts}
    words = "; ".join(f"shift {shift}: " + ", ".join(f"{name} {value:.3f}" for name, value in by.items()) for shift, by in found.items())
    holds = all(min(by[title] for title in VARIANTS) > by["RD"] for by in found.values())
    return verdict("The FW variants separate the airplane better than RD", "section 6.3, figure 2", "pictures, no numbers",
                   f"ARI against people after assignment: {words}",
                   f"cleave dominant pixels.npy --affinity minimax -k 3 --shift SHIFT --assign {shown(named('PFW-V'), 10000)}", holds, words)


def multistart_rows(found):
    """Figure 4."""
    keys = [key for key in next(iter(found.values())) if key[0] != "plain"]
    passes = {key: mean(by[key].passes for by in found.values()) for key in keys}
    scores = {key: [by[key].ari_after for by in found.values()] for key in keys}
    command = (f"cleave dominant x.npy --affinity distance -k {multistart.K} --shift {multistart.SHIFT} --assign {shown(named('FW'), multistart.STEPS)} "
               f"--multistart {multistart.STARTS} --sampling uniform --seed 1..{multistart.REPETITIONS}")
    counts = ", ".join(f"{' '.join(key)} {value:.2f}" for key, value in passes.items())
    means = ", ".join(f"{' '.join(key)} {mean(values):.2f}" for key, values in scores.items())
    rows = [verdict("About two passes find the clusters", "section 6.5, figure 4", f"two, of at most {multistart.K}", f"means: {counts}", command,
                    max(passes.values()) <= ABOUT_TWO, counts, max(passes.values()) < 2)]
    others = [title for title in VARIANTS if title != "AFW-B"]
    apart = max(abs(mean(scores[name, a]) - mean(scores[name, b])) for name, _ in multistart.SAMPLINGS for a in others for b in others)
    rows.append(verdict("FW, PFW and AFW do not differ", "section 6.5, figure 4", "no significant difference", f"post-assigned ARI: {means}", command,
                        apart <= CLOSE, f"they differ by {apart:.2f}"))
    between = max(abs(mean(scores["UNI", title]) - mean(scores["DPP", title])) for title in others)
    rows.append(verdict("UNI and DPP do not differ", "section 6.5, figure 4", "no significant difference",
                        f"largest difference of a method in post-assigned ARI: {between:.2f}", command, between <= CLOSE, f"by {between:.2f}"))
    if len(found) > 1:
        steps = {name: paired(scores[name, "AFW-V"], scores[name, "AFW-B"]) for name, _ in multistart.SAMPLINGS}
        worse = [name for name, _ in multistart.SAMPLINGS if lower(scores[name, "AFW-V"], scores[name, "AFW-B"])]
        words = "; ".join(f"{name}: AFW-B less AFW-V is {step:+.3f} with a standard error of {error:.3f}" for name, (step, error) in steps.items())
        rows.append(verdict("AFW-B is slightly worse", "section 6.5, figure 4", "slightly", f"post-assigned ARI, {words}", command, len(worse) == len(steps), words))
    return rows


# --- rates: Lemma 4 and Theorems 1 to 3 along the traces of block matrices ---

RATE_NOISE = (0.2, 0.5)


def measure_rates(cleave):
    """{method: [(least gap so far as in the proofs, f(t) - f(0), good steps, t, support at the start), ...]}, and the bounds on the entries."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        matrix, trace = os.path.join(folder, "a.npy"), os.path.join(folder, "t.csv")
        for noise in RATE_NOISE:
            npy.write_rows(matrix, synthetic.block_matrix(noise, random.Random(f"{noise} 0"))[0])
            for method in FRANK_WOLFE:
                cleave.run("dominant", matrix, "--affinity", "precomputed", "-k", 1, "--shift", synthetic.SHIFT, *options(method, 4000), "--trace", trace, "-q")
                found.setdefault(method.title, []).extend(rates_of(trace))
    return found


def rates_of(path):
    """Of one trace: the gap of the proofs is twice that of the algorithms."""
    with open(path, newline="") as file:
        rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
    least, points = float("inf"), []
    for t, row in enumerate(rows):
        least = min(least, 2 * row["certificate"])
        points.append((least, row["objective"] - rows[0]["objective"], t - row["drops"] - row["swaps"], t, rows[0]["support"]))
    return points[1:]


def rate_row(claim, where, points, bound, command):
    """Whether the least gap is below the bound, and by how much: `bound(rise, good, t, support)` is a logarithm, or None where it says nothing."""
    room = [bound(rise, good, t, support) - log(least) for least, rise, good, t, support in points
            if least > 1e-9 and rise > 0 and bound(rise, good, t, support) is not None]
    figures = f"over {len(room)} steps the bound is at least e^{min(room):.2f} times the gap, in the middle e^{statistics.median(room):.1f} times"
    return verdict(claim, where, "a theorem", figures, command, min(room) >= -1e-9, figures)


def rate_rows(found):
    """Bounds with the largest and the least entry of A off the diagonal: shift + 1 and shift."""
    most, least, n = synthetic.SHIFT + 1, synthetic.SHIFT, synthetic.N
    beta = {"FW": 2 * most - least, "PFW": 2 * most, "AFW": 2 * most - least}
    rows = []
    for kind in beta:
        points = [point for title, of_title in found.items() if title.split("-")[0] == kind for point in of_title]
        command = f"cleave dominant a.npy --affinity precomputed -k 1 --shift {synthetic.SHIFT} {shown(named(kind if kind == 'FW' else kind + '-V'), 4000)} --trace t.csv"

        def lemma(rise, good, t, support, b=beta[kind]):
            return log(2 * sqrt(b * rise / good)) if good > 0 else None
        rows.append(rate_row(f"{kind}: the least gap obeys (24)", "Lemma 4", points, lemma, command))
        theorem = {
            "FW": lambda rise, good, t, support: log(2 * sqrt(beta["FW"] * rise / t)),
            "PFW": lambda rise, good, t, support: log(2) + (log(6 * most * rise / t) + lgamma(n + 1)) / 2,
            "AFW": lambda rise, good, t, support: log(2 * sqrt(2 * beta["AFW"] * rise / (t + 1 - support))) if t + 1 > support else None,
        }[kind]
        number = {"FW": (1, 25), "PFW": (2, 26), "AFW": (3, 27)}[kind]
        rows.append(rate_row(f"{kind}: the least gap obeys ({number[1]})", f"Theorem {number[0]}", points, theorem, command))
    return rows


def rows(found, rates):
    """All verdicts on the studies that could be made."""
    verdicts = newsgroup_rows(found["newsgroups"]) if "newsgroups" in found else []
    verdicts += synthetic_rows(found["synthetic"])
    verdicts += [image_row(found["image"])] if "image" in found else []
    return verdicts + multistart_rows(found["multistart"]) + rate_rows(rates)
