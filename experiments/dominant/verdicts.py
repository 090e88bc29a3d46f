"""The claims of the dominant set paper, judged by what the studies measured."""

import csv
import os
import random
import statistics
import tempfile
from math import factorial, log, sqrt

import image
import multistart
import synthetic
from common import npy
from common.verdicts import failing, lower, paired, verdict
from methods import CUTOFF, EPSILON, FRANK_WOLFE, named, options
from newsgroups import K, SHIFTS
from published import STEPS, TABLE_5, TABLES_1_TO_4
from raw import CORPUS, PICTURE, RECIPES, image as picture_features, split_corpus

VARIANTS = [method.title for method in FRANK_WOLFE]
BEST = ("PFW-V", "AFW-V")
REST = ("FW", "PFW-B", "AFW-B", "RD")
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


def command_of(titles, steps, before, after=""):
    """The command of methods, and the words that each of them has in it."""
    words = "; ".join(f"{title}: {named(title).solver}, {named(title).start}" for title in titles)
    counts = " or ".join(map(str, steps)) if isinstance(steps, tuple) else steps
    return [f"cleave dominant {before} --solver SOLVER --start START --max-iter {counts if not isinstance(steps, tuple) else 'T'} --tol 0 --change {EPSILON:.17g} "
            f"--cutoff {CUTOFF:g} --no-face-solve{after}", f"(SOLVER, START of {words}{f'; T: {counts}' if isinstance(steps, tuple) else ''})"]


def of_newsgroups(recipe, titles, steps):
    """From the posts to the result."""
    return ["experiments/dominant/run data data", f"cleave text data/newsgroupsN.jsonl -o newsgroupsN.npy --labels-out newsgroupsN.y.npy {' '.join(RECIPES[recipe])}",
            *command_of(titles, steps, f"newsgroupsN.npy --affinity cosine -k {K} --shift {SHIFTS[recipe]} --assign --home dense-f64", " --truth newsgroupsN.y.npy"),
            "(N: 1 to 4)"]


REASONS = {
    "ours": f"the random numbers of the SVD alone move ARI by {CLOSE:g}, and the paper's terms and SVD are not known",
    "printed": "the paper names tf-idf and PCA only, and the features are not its own: those of the recipe ours come near its tables with the same methods",
}


def set_row(sets, recipe, claim, where, judge, titles, steps):
    """`judge(number, found)` gives (holds, published, ours) of a set."""
    results = {f"set {number + 1}": judge(number, found) for number, found in enumerate(sets)}
    missed = [name for name, (holds, _, _) in results.items() if not holds]
    published, ours = ("; ".join(f"{name}: {result[column]}" for name, result in results.items()) for column in (1, 2))
    return verdict(f"Recipe {recipe}: {claim}", where, published, ours, of_newsgroups(recipe, titles, steps), not missed, failing(missed, REASONS[recipe]))


def level_row(sets, recipe, steps, titles):
    """Values of the tables."""
    def judge(number, found):
        pairs = [(printed(title, number, steps)[1:], (found[title, steps].rate, found[title, steps].ari, found[title, steps].v)) for title in titles]
        near = all(abs(a - b) <= CLOSE for published, ours in pairs for a, b in zip(published, ours))
        return near, *(", ".join(f"{title} AR {pair[side][0]:.3f} ARI {pair[side][1]:.3f} V {pair[side][2]:.3f}" for title, pair in zip(titles, pairs))
                       for side in (0, 1))
    return set_row(sets, recipe, f"assignment rate, ARI and V-measure of {', '.join(titles)} at t = {steps} (within {CLOSE:g})", TABLES, judge, titles, steps)


def best_row(sets, recipe, last, metric, after):
    """Frank-Wolfe against replicator dynamics, before or after assignment."""
    name, field = {"ari": ("ARI", 2), "v": ("V-measure", 3)}[metric]

    def judge(number, found):
        ours = {title: getattr(found[title, last], metric + ("_after" if after else "")) for title in (*VARIANTS, "RD")}
        theirs = {title: TABLE_5[title][STEPS.index(last)][number][field - 2] if after else printed(title, number, last)[field] for title in ours}
        words = [f"{min(scores[title] for title in VARIANTS):.3f} to {max(scores[title] for title in VARIANTS):.3f}, RD {scores['RD']:.3f}"
                 for scores in (theirs, ours)]
        return min(ours[title] for title in VARIANTS) > ours["RD"], *words
    return set_row(sets, recipe, f"all FW variants have a higher {name} than RD{' after assignment' if after else ''} (t = {last})",
                   f"section 6.4, {'table 5' if after else TABLES}", judge, (*VARIANTS, "RD"), last)


def winner_row(sets, recipe):
    """The best of all after 1000 steps."""
    def judge(number, found):
        values = [{title: printed(title, number, FIRST)[2] for title in (*VARIANTS, "RD")},
                  {title: found[title, FIRST].ari for title in (*VARIANTS, "RD")}]
        best = [max(scores, key=scores.get) for scores in values]
        ahead = max(values[1][title] for title in BEST) >= values[1][best[1]]
        return ahead, *(f"{title} {scores[title]:.3f}" for title, scores in zip(best, values))
    return set_row(sets, recipe, f"PFW-V or AFW-V has the highest ARI of all at t = {FIRST}", f"section 6.4, {TABLES}", judge, (*VARIANTS, "RD"), FIRST)


def early_row(sets, recipe):
    """PFW-V and AFW-V after 1000 steps."""
    def judge(number, found):
        ours = [(found[title, FIRST].ari, found[title, LAST].ari) for title in BEST]
        theirs = [(printed(title, number, FIRST)[2], printed(title, number, LAST)[2]) for title in BEST]
        words = [", ".join(f"{title} {a:.3f} then {b:.3f}" for title, (a, b) in zip(BEST, values)) for values in (theirs, ours)]
        return all(a >= b - CLOSE for a, b in ours), *words
    return set_row(sets, recipe, f"PFW-V and AFW-V are as good already at t = {FIRST} (ARI within {CLOSE:g} of t = {LAST})", f"section 6.4, {TABLES}", judge,
                   BEST, (FIRST, LAST))


def center_rows(sets, recipe):
    """AFW-B: bad early, as good as PFW-B in the end."""
    def early(number, found):
        ours, theirs = found["AFW-B", FIRST], printed("AFW-B", number, FIRST)
        return ours.ari <= found["AFW-V", FIRST].ari / 2, *(f"AR {rate:.3f} ARI {ari:.3f}, AFW-V {other:.3f}" for rate, ari, other in (
            (*theirs[1:3], printed("AFW-V", number, FIRST)[2]), (ours.rate, ours.ari, found["AFW-V", FIRST].ari)))

    def late(number, found):
        pairs = [(printed(title, number, LAST)[2], found[title, LAST].ari) for title in ("AFW-B", "PFW-B")]
        return abs(pairs[0][1] - pairs[1][1]) <= ALIKE, *(f"AFW-B {pairs[0][side]:.3f}, PFW-B {pairs[1][side]:.3f}" for side in (0, 1))
    return [set_row(sets, recipe, f"AFW-B at t = {FIRST} has less than half the ARI of AFW-V", TABLES, early, ("AFW-B", "AFW-V"), FIRST),
            set_row(sets, recipe, f"AFW-B and PFW-B agree at t = {LAST} (ARI within {ALIKE:g})", TABLES, late, ("AFW-B", "PFW-B"), LAST)]


def replicator_rows(sets, recipe, last):
    """RD: everything in one cluster early, and its time."""
    def early(number, found):
        ours, theirs = found["RD", FIRST], printed("RD", number, FIRST)
        return ours.rate >= 1 - ALIKE and abs(ours.ari) <= ALIKE, f"AR {theirs[1]:.3f} ARI {theirs[2]:.3f}", f"AR {ours.rate:.3f} ARI {ours.ari:.3f}"

    def time(number, found):
        theirs, own = printed("RD", number, last)[0], found["RD", last].seconds
        slowest = [max(values) for values in zip(*((printed(title, number, last)[0], found[title, last].seconds) for title in VARIANTS))]
        return own > slowest[1], f"{theirs:.2f} s, FW variants up to {slowest[0]:.2f}", f"{own:.2f} s, FW variants up to {slowest[1]:.2f}"
    return [set_row(sets, recipe, f"RD at t = {FIRST} puts everything into one cluster (AR within {ALIKE:g} of 1, ARI of 0)", f"section 6.4, {TABLES}", early, ("RD",),
                    FIRST),
            set_row(sets, recipe, f"the FW variants take less time than RD (t = {last})", f"section 6.4, {TABLES}", time, (*VARIANTS, "RD"), last)]


def assignment_row(sets, recipe, last):
    """Table 5 against tables 1 to 4."""
    def judge(number, found):
        ours = [(one.ari, one.ari_after, one.v, one.v_after) for one in (found[title, last] for title in BEST)]
        theirs = []
        for title in BEST:
            before, after = printed(title, number, last)[2:], TABLE_5[title][STEPS.index(last)][number]
            theirs.append((before[0], after[0], before[1], after[1]))
        return all(abs(a - b) <= CLOSE and abs(c - d) <= CLOSE for a, b, c, d in ours), *(
            ", ".join(f"{title} ARI {a:.3f} and {b:.3f}, V {c:.3f} and {d:.3f}" for title, (a, b, c, d) in zip(BEST, values)) for values in (theirs, ours))
    return set_row(sets, recipe, f"ARI and V-measure before and after assignment are consistent (within {CLOSE:g}, t = {last})", "section 6.4, table 5", judge,
                   BEST, last)


def newsgroup_rows(by_recipe):
    """Tables 1 to 5, as printed and with what comes closest."""
    rows = []
    for recipe, sets in by_recipe.items():
        measured = sorted({steps for _, steps in sets[0]})
        last = measured[-1]
        rows += [level_row(sets, recipe, steps, titles) for steps in measured for titles in (BEST, REST)]
        rows += [best_row(sets, recipe, last, metric, after) for metric in ("ari", "v") for after in (False, True)]
        rows += [assignment_row(sets, recipe, last), *replicator_rows(sets, recipe, last)]
        if last == LAST:
            rows += [winner_row(sets, recipe), early_row(sets, recipe), *center_rows(sets, recipe)]
    return rows


# --- figures ---

DATA = "experiments/dominant/run data data"


def synthetic_rows(found):
    """Figure 1."""
    robust, spread, of_rd = synthetic.trends(found)
    first, *others = of_rd
    settings = "; ".join(f"panels {panels}: {steps}, {cutoff:g}" for panels, steps, cutoff in synthetic.CONFIGURATIONS)
    words = "; ".join(f"{title}: {named(title).solver}, {named(title).start}" for title in (*VARIANTS, "RD"))
    commands = [DATA, f"cleave dominant data/block-P-R.npy --affinity precomputed -k {synthetic.K} --shift {synthetic.SHIFT} --solver SOLVER --start START --max-iter T "
                f"--tol 0 --change {EPSILON:.17g} --cutoff C --no-face-solve --truth data/block-P-R.y.npy",
                f"(P: {', '.join(f'{noise:g}' for noise in found)}; R: 0 to {synthetic.REPETITIONS - 1}; T, C of {settings}; SOLVER, START of {words})"]
    ahead = min(mean(value for _, value in synthetic.series(found, panels, title)) - of_rd[panels] for title in VARIANTS for panels in of_rd)
    kept = "none" if robust is None else f"p = {robust:g}"
    by_panels = ", ".join(f"{value:.2f} ({panels})" for panels, value in of_rd.items())
    where, plot = "section 6.2, figure 1", "a plot, no numbers"
    return [
        verdict(f"The FW variants are robust to noise (ARI at least 0.95 up to p = {ROBUST:g})", where, f"ARI near 1 up to p = {ROBUST:g}, by the plot",
                f"all keep ARI >= 0.95 up to {kept}", commands, robust is not None and robust >= ROBUST, failing([f"p above {kept}"])),
        verdict("The FW variants have higher scores than RD (mean ARI over p, in all panels)", where, plot,
                f"at least {ahead:.2f} more than RD in the same panels ({by_panels})", commands, ahead > 0, failing(["some panels"])),
        verdict(f"The FW variants are consistent between configurations (ARI within {CLOSE:g} up to p = {ROBUST:g})", where, plot,
                f"largest difference in ARI: {spread:.2f}", commands, spread <= CLOSE, failing([f"a difference of {spread:.2f}"])),
        verdict(f"RD depends on t and on the cutoff (mean ARI over p differs by more than {CLOSE:g})", where, plot, by_panels, commands,
                max(abs(of_rd[first] - of_rd[other]) for other in others) > CLOSE, failing(["all panels"]))]


def image_row(scores):
    """Figure 2."""
    shifts = sorted({score.shift for score in scores})
    found = {shift: {score.method: mean(score.after) for score in scores if score.shift == shift} for shift in shifts}
    words = "; ".join(f"shift {shift}: " + ", ".join(f"{name} {value:.3f}" for name, value in by.items()) for shift, by in found.items())
    missed = [f"shift {shift}" for shift, by in found.items() if min(by[title] for title in VARIANTS) <= by["RD"]]
    commands = [DATA, *command_of((*VARIANTS, "RD"), (image.FW_STEPS, image.RD_STEPS), f"data/pixels.npy --affinity minimax -k {image.K} --shift SHIFT --assign"),
                f"(SHIFT: {', '.join(map(str, shifts))}; T of RD is the second; the picture is {PICTURE})"]
    return verdict("The FW variants separate the airplane better than RD", "section 6.3, figure 2", "pictures, no numbers",
                   f"ARI against people after assignment: {words}", commands, not missed, failing(missed))


UNPRINTED = "the means of the Gaussians and the range of the noise are not printed: ours are in multistart.py"


def multistart_rows(found):
    """Figure 4."""
    keys = [key for key in next(iter(found.values())) if key[0] != "plain"]
    passes = {key: mean(by[key].passes for by in found.values()) for key in keys}
    scores = {key: [by[key].ari_after for by in found.values()] for key in keys}
    noises, where = ", ".join(f"{noise:g}" for noise in found), "section 6.5, figure 4"
    commands = [DATA, *command_of(VARIANTS, multistart.STEPS, f"data/multistart-P.npy --affinity distance -k {multistart.K} --shift {multistart.SHIFT} --assign",
                                  f" --multistart {multistart.STARTS} --sampling SAMPLING --seed S --truth data/multistart-P.y.npy"),
                f"(P: {noises}; SAMPLING: uniform, which is UNI, dpp; S: 1 to {multistart.REPETITIONS}, means of them)"]
    counts = ", ".join(f"{' '.join(key)} {value:.2f}" for key, value in passes.items())
    rows = [verdict(f"About two passes find the clusters (means of at most {ABOUT_TWO:g})", where, f"two, of at most {multistart.K}", f"means: {counts}", commands,
                    max(passes.values()) <= ABOUT_TWO, failing([" ".join(key) for key, value in passes.items() if value > ABOUT_TWO], UNPRINTED),
                    max(passes.values()) < 2)]
    return rows + (difference_rows(scores, where, commands) if len(found) > 1 else [])


def difference_rows(scores, where, commands):
    """Within each sampling, by standard errors over the noise ratios."""
    rows, others = [], [title for title in VARIANTS if title != "AFW-B"]
    for name, _ in multistart.SAMPLINGS:
        steps = {(a, b): paired(scores[name, a], scores[name, b]) for at, a in enumerate(others) for b in others[at + 1:]}
        words = ", ".join(f"{b} less {a} {step:+.3f} ({error:.3f})" for (a, b), (step, error) in steps.items())
        means = ", ".join(f"{title} {mean(scores[name, title]):.3f}" for title in VARIANTS)
        missed = [f"{a} and {b}" for (a, b), (step, error) in steps.items() if abs(step) > 2 * error]
        rows.append(verdict(f"{name}: FW, PFW and AFW do not differ significantly (no pair by more than two standard errors over the noise ratios, AFW-B aside)", where,
                            "no significant difference", f"post-assigned ARI: {means}; differences and standard errors: {words}", commands, not missed,
                            failing(missed, UNPRINTED)))
    steps = {name: paired(scores[name, "AFW-V"], scores[name, "AFW-B"]) for name, _ in multistart.SAMPLINGS}
    missed = [name for name, _ in multistart.SAMPLINGS if not lower(scores[name, "AFW-V"], scores[name, "AFW-B"])]
    words = "; ".join(f"{name}: AFW-B less AFW-V is {step:+.3f} with a standard error of {error:.3f}" for name, (step, error) in steps.items())
    rows.append(verdict("AFW-B is slightly worse (than AFW-V, by more than two standard errors over the noise ratios)", where, "slightly", f"post-assigned ARI, {words}",
                        commands, not missed, failing(missed, UNPRINTED)))
    return rows


# --- rates: Lemma 4 and Theorems 1 to 3 along the traces of block matrices ---

RATE_NOISE = (0.2, 0.5)


# Theorem 2 has a factor n!, which only few objects leave a bound that could fail.
FEW, FEW_SIZES = 60, (3, 4, 5, 6)


def few_objects(number):
    """A small matrix of random similarities."""
    draw, n = random.Random(f"few {number}"), FEW_SIZES[number % len(FEW_SIZES)]
    a = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i):
            a[i][j] = a[j][i] = draw.random()
    return a


def few_options(number):
    """From both starts of which a pairwise step can drop and swap."""
    start = ["--start", "center"] if number % 2 else ["--start", "random", "--seed", number]
    return ["--affinity", "precomputed", "-k", 1, "--solver", "pfw", *start, "--max-iter", 3000, "--tol", 0, "--change", EPSILON, "--no-face-solve"]


def measure_rates(cleave):
    """({method: [(least gap so far as in the proofs, f(t) - f(0), good steps, t, support at the start), ...]} on block matrices,
    [(points, objects, largest entry), ...] of PFW on few objects)."""
    found, few = {}, []
    with tempfile.TemporaryDirectory() as folder:
        matrix, trace = os.path.join(folder, "a.npy"), os.path.join(folder, "t.csv")
        for noise in RATE_NOISE:
            npy.write_rows(matrix, synthetic.block_matrix(noise, random.Random(f"{noise} 0"))[0])
            for method in FRANK_WOLFE:
                cleave.run("dominant", matrix, "--affinity", "precomputed", "-k", 1, "--shift", synthetic.SHIFT, *options(method, 4000), "--trace", trace, "-q")
                found.setdefault(method.title, []).extend(rates_of(trace))
        for number in range(FEW):
            a = few_objects(number)
            npy.write_rows(matrix, a)
            cleave.run("dominant", matrix, *few_options(number), "--trace", trace, "-q")
            few.append((rates_of(trace), len(a), max(map(max, a))))
    return found, few


def rates_of(path):
    """Of one trace: the gap of the proofs is twice that of the algorithms."""
    with open(path, newline="") as file:
        rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
    least, points = float("inf"), []
    for t, row in enumerate(rows):
        least = min(least, 2 * row["certificate"])
        points.append((least, row["objective"] - rows[0]["objective"], t - row["drops"] - row["swaps"], t, rows[0]["support"]))
    return points[1:]


def rate_row(claim, where, room, commands):
    """Whether the least gap is below the bound: `room` are the logarithms of bound over gap."""
    figures = f"over {len(room)} steps the bound is at least e^{min(room):.2f} times the gap, in the middle e^{statistics.median(room):.1f} times"
    return verdict(claim, where, "a theorem", figures, commands, min(room) >= -1e-9, failing([f"{sum(one < -1e-9 for one in room)} steps"]))


def room_of(points, bound):
    """`bound(rise, good, t, support)` is a logarithm, or None where it says nothing."""
    return [bound(rise, good, t, support) - log(least) for least, rise, good, t, support in points
            if least > 1e-9 and rise > 0 and bound(rise, good, t, support) is not None]


def rate_rows(found, few):
    """Bounds with the largest and the least entry of A off the diagonal: shift + 1 and shift."""
    most, least = synthetic.SHIFT + 1, synthetic.SHIFT
    beta = {"FW": 2 * most - least, "PFW": 2 * most, "AFW": 2 * most - least}
    theorem = {
        "FW": lambda rise, good, t, support: log(2 * sqrt(beta["FW"] * rise / t)),
        "AFW": lambda rise, good, t, support: log(2 * sqrt(2 * beta["AFW"] * rise / (t + 1 - support))) if t + 1 > support else None,
    }
    rows = []
    for kind, b in beta.items():
        titles = [title for title in found if title.split("-")[0] == kind]
        points = [point for title in titles for point in found[title]]
        commands = [DATA, *command_of(titles, 4000, f"data/block-P-0.npy --affinity precomputed -k 1 --shift {synthetic.SHIFT}", " --trace t.csv"),
                    f"(P: {', '.join(f'{noise:g}' for noise in RATE_NOISE)})"]

        def lemma(rise, good, t, support, b=b):
            return log(2 * sqrt(b * rise / good)) if good > 0 else None
        rows.append(rate_row(f"{kind}: the least gap obeys (24)", "Lemma 4", room_of(points, lemma), commands))
        if kind in theorem:
            number = {"FW": (1, 25), "AFW": (3, 27)}[kind]
            rows.append(rate_row(f"{kind}: the least gap obeys ({number[1]})", f"Theorem {number[0]}", room_of(points, theorem[kind]), commands))
        else:
            rows.append(few_row(few))
    return rows


def few_row(few):
    """Theorem 2, where its factor n! is small; (26) is for steps of which one in 3 n! is good."""
    room = []
    for points, n, most in few:
        orders = factorial(n)

        def bound(rise, good, t, support, orders=orders, most=most):
            return log(2 * sqrt(6 * most * orders * rise / t)) if 0 < t <= 3 * orders * good else None
        room += room_of(points, bound)
    bad = sum(t - good for points, _, _ in few for _, _, good, t, _ in points[-1:])
    row = rate_row(f"PFW: the least gap obeys (26) ({FEW_SIZES[0]} to {FEW_SIZES[-1]} objects: the bound has a factor n!)", "Theorem 2", room,
                   [DATA, f"cleave dominant data/few-N.npy {' '.join(map(str, few_options(1)))} --trace t.csv",
                    f"(N: 0 to {FEW - 1}; for even N --start random --seed N instead)"])
    return row._replace(ours=f"{row.ours}; drops and swaps among the steps: {bad:.0f}")


def rows(found, rates):
    """All verdicts on the studies that could be made."""
    verdicts = newsgroup_rows(found["newsgroups"]) if "newsgroups" in found else []
    verdicts += synthetic_rows(found["synthetic"])
    verdicts += [image_row(found["image"])] if "image" in found else []
    return verdicts + multistart_rows(found["multistart"]) + rate_rows(*rates)


def write_data(cleave, data, folder):
    """What the commands in the rows read, but for what others of them write."""
    os.makedirs(folder, exist_ok=True)
    for noise in synthetic.NOISE:
        for repetition in range(synthetic.REPETITIONS):
            a, blocks = synthetic.block_matrix(noise, random.Random(f"{noise} {repetition}"))
            npy.write_rows(os.path.join(folder, f"block-{noise:g}-{repetition}.npy"), a)
            npy.write_labels(os.path.join(folder, f"block-{noise:g}-{repetition}.y.npy"), blocks)
    for noise in multistart.NOISE:
        points, classes = multistart.points_of(noise)
        npy.write_rows(os.path.join(folder, f"multistart-{noise:g}.npy"), points)
        npy.write_labels(os.path.join(folder, f"multistart-{noise:g}.y.npy"), classes)
    for number in range(FEW):
        npy.write_rows(os.path.join(folder, f"few-{number}.npy"), few_objects(number))
    split_corpus(os.path.join(data, CORPUS), folder)
    picture_features(cleave, data, folder)
