"""What is run: on one data set for the tables, on small samples of it for figure 2."""

import os
import random
import statistics
import tempfile
from collections import namedtuple

from common import npy
from command import PLAIN, PRINTED, objectives
from exhaustive import lowest_cut
from published import ALGORITHMS, TABLE_2, FORMS

STARTS = 10
# A published value has six decimals: reaching it means to come within the last of them.
PUBLISHED_ACCURACY = 1e-6
SMALL, LARGE = 1000, 4000
RANDOM = ["--start", "random", *PLAIN]
PLAIN_FPC = ["--solver", "fpc", *RANDOM, "--restarts", STARTS]

# Results of one set. By algorithm: `random` (lowest cut of the starts), `spectral` (mean, standard deviation), `scores`
# (ACC, NMI by the larger entropy, ARI), `seconds` (processor time of one start, without reading the affinity). `default` is the
# command as it comes, with its bound; `reached` of `batches` batches of plain FPC come down to the published value; `printed` has
# `random`, `spectral` and `scores` with the printed kernel; `curves` are pairs of objective and h by iteration.
Printed = namedtuple("Printed", "random spectral scores")
Record = namedtuple("Record", "set random spectral scores seconds default reached batches printed curves lowest")


def scores_of(result):
    """ACC, NMI and ARI of a result's labels."""
    return tuple(result["metrics"][name] for name in ("accuracy", "nmi_max", "ari"))


def fpc_batches(cleave, affinity, k, count):
    """The lowest cut of each batch of random starts of plain FPC."""
    return [min(objectives(cleave.ncut(affinity, k, *PLAIN_FPC, "--seed", seed))) for seed in range(1, count + 1)]


def from_spectral(cleave, affinity, k, options):
    """Mean and standard deviation of the cuts from spectral starts."""
    cuts = objectives(cleave.ncut(affinity, k, *options, *PLAIN, "--start", "spectral", "--restarts", STARTS))
    return statistics.mean(cuts), statistics.stdev(cuts)


def study_printed(cleave, the_set, affinity, truth_path):
    """The columns of tables 2 to 4 with the printed kernel."""
    best = {title: cleave.ncut(affinity, the_set.k, *options, *RANDOM, "--restarts", STARTS, "--truth", truth_path)
            for title, options in ALGORITHMS.items()}
    return Printed({title: result["objective"]["value"] for title, result in best.items()},
                   {title: from_spectral(cleave, affinity, the_set.k, options) for title, options in ALGORITHMS.items()},
                   {title: scores_of(result) for title, result in best.items()})


def study_affinity(cleave, the_set, affinity, truth_path, batches, folder):
    """Everything that is reported about one set, but for the printed kernel."""
    k, judged = the_set.k, ["--truth", truth_path]
    _, idle = cleave.timed(affinity, k, "--solver", "fpc", *RANDOM, "--max-iter", 0)
    random_cut, spectral, scores, seconds = {}, {}, {}, {}
    columns = {**ALGORITHMS, **FORMS, **({"Dinkelbach": ["--solver", "dinkelbach"]} if k == 2 else {})}
    for title, options in columns.items():
        best, spent = cleave.timed(affinity, k, *options, *RANDOM, "--restarts", STARTS, *judged)
        random_cut[title], scores[title], seconds[title] = best["objective"]["value"], scores_of(best), (spent - idle) / STARTS
        if title in ALGORITHMS:
            spectral[title] = from_spectral(cleave, affinity, k, options)
    seconds["SC"] = cleave.timed(affinity, k, *ALGORITHMS["SC"], *RANDOM)[1] - idle  # the eigenvectors are found once for all starts
    default, spent = cleave.timed(affinity, k, *judged)
    scores["default"], seconds["default"] = scores_of(default), spent - idle
    reached = sum(cut <= TABLE_2[the_set.name][-1] + PUBLISHED_ACCURACY for cut in fpc_batches(cleave, affinity, k, batches))
    curves = cleave.traces(affinity, k, folder, *PLAIN_FPC)[0] if the_set.n < SMALL else []
    lowest = min(default["objective"]["value"], *random_cut.values())
    seconds = {title: max(spent, 1e-4) for title, spent in seconds.items()}
    return Record(the_set, random_cut, spectral, scores, seconds, default, reached, batches, None, curves, lowest)


def study_set(cleave, data, the_set, batches):
    """Build the affinity of a set once, use it for all runs, and delete it."""
    points, truth = (os.path.join(data, f"{the_set.name}.{part}.npy") for part in "Xy")
    with tempfile.TemporaryDirectory() as folder:
        affinity = os.path.join(folder, "affinity.npy")
        cleave.affinity(points, affinity)
        record = study_affinity(cleave, the_set, affinity, truth, batches, folder)
        cleave.affinity(points, affinity, PRINTED)
        return record._replace(printed=study_printed(cleave, the_set, affinity, truth))


# --- figure 2: samples that are small enough to try every partition ---

SAMPLE_SIZE, SAMPLE_K, SAMPLES = 12, 3, 20
# Far above rounding, far below the difference between two partitions.
SAME_CUT = 1e-9

# `single` starts of plain FPC, batches (`ten`) of them, and runs of the command as it comes (`default`), of those that
# were made, ended at the optimum. `curves` and `optimum` are those of the first sample.
SampleRecord = namedtuple("SampleRecord", "set samples single ten default iterations curves optimum")


def study_sample(cleave, rows, folder):
    """(curves of plain FPC, its result, the result by default, the optimum) on a few rows."""
    points, affinity = os.path.join(folder, "points.npy"), os.path.join(folder, "affinity.npy")
    npy.write_rows(points, rows)
    cleave.affinity(points, affinity)
    curves, result = cleave.traces(affinity, SAMPLE_K, folder, *PLAIN_FPC)
    default = cleave.ncut(affinity, SAMPLE_K)
    return curves, result, default, lowest_cut(npy.rows(affinity), SAMPLE_K)


def samples_of(data, the_set, samples):
    """Random objects of a set."""
    rows, draw = npy.rows(os.path.join(data, f"{the_set.name}.X.npy")), random.Random(1)
    return [draw.sample(rows, SAMPLE_SIZE) for _ in range(samples)]


def write_samples(data, sets, folder):
    """The samples as files SET-NUMBER.npy."""
    os.makedirs(folder, exist_ok=True)
    for the_set in sets:
        for number, rows in enumerate(samples_of(data, the_set, SAMPLES)):
            npy.write_rows(os.path.join(folder, f"{the_set.name}-{number}.npy"), rows)


def study_samples(cleave, data, the_set, samples=SAMPLES):
    """How often the exhaustive optimum of random samples is found."""
    with tempfile.TemporaryDirectory() as folder:
        runs = [study_sample(cleave, rows, folder) for rows in samples_of(data, the_set, samples)]
    single = sum(cut <= best + SAME_CUT for _, result, _, best in runs for cut in objectives(result))
    ten = sum(min(objectives(result)) <= best + SAME_CUT for _, result, _, best in runs)
    default = sum(result["objective"]["value"] <= best + SAME_CUT for _, _, result, best in runs)
    iterations = statistics.mean(start["iterations"] for _, result, _, _ in runs for start in result["restarts"])
    return SampleRecord(the_set, samples, single, ten, default, iterations, runs[0][0], runs[0][3])
