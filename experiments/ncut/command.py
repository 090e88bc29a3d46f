"""The command under test: build an affinity once, cluster it in many ways."""

import csv

from common.command import Cleave

# The kernel behind the published figures: see "Reproducing the paper" in README.md.
KERNEL = ["--scale", "unit-columns", "--affinity", "exponential", "--gamma", "1"]
# An algorithm of the paper as such: no polish after it, no search, no time spent on a bound.
PLAIN = ["--no-polish", "--bound", "no"]


class NcutCommand(Cleave):
    """What this experiment runs."""

    def affinity(self, points, target):
        """Write the affinity of the points to `target`."""
        self.run("affinity", points, *KERNEL, "-o", target, "-q")

    def ncut(self, affinity, k, *options):
        """The JSON result of clustering a given affinity."""
        return self.result("ncut", affinity, "--affinity", "precomputed", "-k", k, "--no-progress", *options)

    def traces(self, affinity, k, folder, *options):
        """The objective by iteration, one list per restart, and the result."""
        path = f"{folder}/trace.csv"
        result = self.ncut(affinity, k, "--trace", path, *options)
        curves = {}
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                curves.setdefault(int(row["restart"]), []).append(float(row["objective"]))
        return list(curves.values()), result


def objectives(result):
    """The cut that each restart ended with."""
    return [restart["objective"] for restart in result["restarts"]]
