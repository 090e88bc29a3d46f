"""The command under test: runs with their traces."""

import csv
import json
import subprocess


class Cleave:
    """The program at `path`, on `threads` threads (0: all)."""

    def __init__(self, path, threads):
        self.path = path
        self.threads = str(threads) if threads else "all"

    def symnmf(self, points, k, *options):
        """The JSON result, and what was said on standard error."""
        command = [self.path, "symnmf", points, "-k", str(k), *map(str, options), "--threads", self.threads, "--json", "-",
                   "--no-progress"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
        return json.loads(done.stdout), done.stderr.strip()

    def traced(self, points, k, folder, *options):
        """The same with the course of the run: lists of seconds, objectives and gaps."""
        path = f"{folder}/trace.csv"
        result, said = self.symnmf(points, k, "--trace", path, *options)
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
        course = {name: [float(row[name] or "nan") for row in rows] for name in ("seconds", "objective", "certificate")}
        return result, said, course
