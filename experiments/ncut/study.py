"""What is run: on one data set for the tables, on small samples of it for figure 2."""

import os
import random
import statistics
import tempfile
from collections import namedtuple

from common import npy
from command import PLAIN, objectives
from exhaustive import lowest_cut
from published import ALGORITHMS, TABLE_2
from scores import nmi_by_larger_entropy

STARTS = 10
TIMED_RUNS = 3
# A published value has six decimals: reaching it means to come within the last of them.
PUBLISHED_ACCURACY = 1e-6
SMALL = 1000
PLAIN_FPC = ["--solver", "fpc", "--start", "random", *PLAIN, "--restarts", STARTS]

# Results of one set. By algorithm: `random` (lowest cut of the starts), `spectral` (mean, standard deviation), `scores`
# (ACC, NMI, ARI), `seconds` (one start). `default` is the command as it comes, with its bound; `reached` of `batches`
# batches of plain FPC come down to the published value; `curves` are objectives by iteration.
Record = namedtuple("Record", "set random spectral scores seconds default reached batches curves lowest")


def scores_of(result, truth):
    """ACC, NMI and ARI of a result's labels."""
    metrics = result["metrics"]
    return metrics["accuracy"], nmi_by_larger_entropy(truth, result["labels"]), metrics["ari"]


def seconds_of_a_start(cleave, affinity, k, options):
    """Mean time of single starts on all threads, the affinity given."""
    runs = [cleave.ncut(affinity, k, *options, "--seed", seed) for seed in range(1, TIMED_RUNS + 1)]
    return statistics.mean(run["seconds"]["solve"] for run in runs)


def fpc_batches(cleave, affinity, k, count):
    """The lowest cut of each batch of random starts of plain FPC."""
    return [min(objectives(cleave.ncut(affinity, k, *PLAIN_FPC, "--seed", seed))) for seed in range(1, count + 1)]


def study_affinity(cleave, the_set, affinity, truth_path, batches, folder):
    """Everything that is reported about one set."""
    truth = list(npy.read(truth_path)[0])
    k, judged = the_set.k, ["--truth", truth_path]
    random_cut, spectral, scores, seconds = {}, {}, {}, {}
    for title, solver in ALGORITHMS:
        plain = ["--solver", solver, *PLAIN]
        starts = [*plain, "--start", "random", "--restarts", STARTS, *judged]
        best = cleave.ncut(affinity, k, *starts)
        random_cut[title], scores[title] = best["objective"]["value"], scores_of(best, truth)
        cuts = objectives(cleave.ncut(affinity, k, *plain, "--start", "spectral", "--restarts", STARTS))
        spectral[title] = statistics.mean(cuts), statistics.stdev(cuts)
        seconds[title] = seconds_of_a_start(cleave, affinity, k, [*plain, "--start", "random"])
    default = cleave.ncut(affinity, k, "--restarts", STARTS, *judged)
    scores["default"] = scores_of(default, truth)
    seconds["default"] = seconds_of_a_start(cleave, affinity, k, ["--bound", "no"])
    reached = sum(cut <= TABLE_2[the_set.name][-1] + PUBLISHED_ACCURACY
                  for cut in fpc_batches(cleave, affinity, k, batches))
    curves = cleave.traces(affinity, k, folder, *PLAIN_FPC)[0] if the_set.n < SMALL else []
    lowest = min(default["objective"]["value"], *random_cut.values())
    return Record(the_set, random_cut, spectral, scores, seconds, default, reached, batches, curves, lowest)


def study_set(cleave, data, the_set, batches):
    """Build the affinity of a set once, use it for all runs, and delete it."""
    points, truth = (os.path.join(data, f"{the_set.name}.{part}.npy") for part in "Xy")
    with tempfile.TemporaryDirectory() as folder:
        affinity = os.path.join(folder, "affinity.npy")
        cleave.affinity(points, affinity)
        return study_affinity(cleave, the_set, affinity, truth, batches, folder)


# --- figure 2: samples that are small enough to try every partition ---

SAMPLE_SIZE, SAMPLE_K, SAMPLES = 12, 3, 20
# Far above rounding, far below the difference between two partitions.
SAME_CUT = 1e-9

# `single` starts of plain FPC, batches (`ten`) of them, and runs of the command as it comes (`default`), of those that
# were made, ended at the optimum. `curves` and `optimum` are those of the first sample.
SampleRecord = namedtuple("SampleRecord", "set single ten default iterations curves optimum")


def study_sample(cleave, rows, folder):
    """(curves of plain FPC, its result, the result by default, the optimum) on a few rows."""
    points, affinity = os.path.join(folder, "points.npy"), os.path.join(folder, "affinity.npy")
    npy.write_rows(points, rows)
    cleave.affinity(points, affinity)
    curves, result = cleave.traces(affinity, SAMPLE_K, folder, *PLAIN_FPC)
    default = cleave.ncut(affinity, SAMPLE_K)
    return curves, result, default, lowest_cut(npy.rows(affinity), SAMPLE_K)


def study_samples(cleave, data, the_set):
    """How often the exhaustive optimum of random samples is found."""
    rows = npy.rows(os.path.join(data, f"{the_set.name}.X.npy"))
    draw = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        runs = [study_sample(cleave, draw.sample(rows, SAMPLE_SIZE), folder) for _ in range(SAMPLES)]
    single = sum(cut <= best + SAME_CUT for _, result, _, best in runs for cut in objectives(result))
    ten = sum(min(objectives(result)) <= best + SAME_CUT for _, result, _, best in runs)
    default = sum(result["objective"]["value"] <= best + SAME_CUT for _, _, result, best in runs)
    iterations = statistics.mean(start["iterations"] for _, result, _, _ in runs for start in result["restarts"])
    return SampleRecord(the_set, single, ten, default, iterations, runs[0][0], runs[0][3])
