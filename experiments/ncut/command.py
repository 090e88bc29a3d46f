"""The command under test: build an affinity once, cluster it in many ways."""

import csv

from common.command import Cleave
from common.verdicts import processor_seconds

# The kernel behind the published figures, and the one that the text prints: see "Reproducing the paper" in README.md.
KERNEL = ["--scale", "unit-columns", "--affinity", "exponential", "--gamma", "1"]
PRINTED = ["--scale", "unit-columns", "--affinity", "gaussian", "--gamma", "1"]
# An algorithm of the paper as such: no polish after it, no search, no time spent on a bound.
PLAIN = ["--no-polish", "--bound", "no"]


class NcutCommand(Cleave):
    """What this experiment runs."""

    def affinity(self, points, target, kernel=KERNEL):
        """Write the affinity of the points to `target`."""
        self.run("affinity", points, *kernel, "-o", target, "-q")

    def ncut(self, affinity, k, *options):
        """The JSON result of clustering a given affinity."""
        return self.result("ncut", affinity, "--affinity", "precomputed", "-k", k, "--no-progress", *options)

    def timed(self, affinity, k, *options):
        """The same, and the processor time of the whole command."""
        began = processor_seconds()
        result = self.ncut(affinity, k, *options)
        return result, processor_seconds() - began

    def traces(self, affinity, k, folder, *options):
        """Objective and h by iteration, one list of pairs per restart, and the result. There is no h before the first step."""
        path = f"{folder}/trace.csv"
        result = self.ncut(affinity, k, "--trace", path, *options)
        curves = {}
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                curves.setdefault(int(row["restart"]), []).append((float(row["objective"]), float(row["h"] or "nan")))
        return list(curves.values()), result


def objectives(result):
    """The cut that each restart ended with."""
    return [restart["objective"] for restart in result["restarts"]]
