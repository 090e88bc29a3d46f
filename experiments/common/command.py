"""Calls of the command that an experiment is about."""

import json
import resource
import subprocess
import time


def processor_seconds():
    """Of all commands that have ended."""
    return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


class Cleave:
    """The program at `path`, on `threads` threads (0: all)."""

    def __init__(self, path, threads):
        self.path = path
        self.threads = str(threads) if threads else "all"

    def run(self, *arguments):
        """Standard output of one run; a failure is raised with the program's own sentence."""
        command = [self.path, *map(str, arguments), "--threads", self.threads]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
        return done.stdout

    def result(self, method, data, *options):
        """The JSON result of a method."""
        return json.loads(self.run(method, data, "--json", "-", *options))

    def timed(self, method, data, *options):
        """The JSON result, the processor seconds of the whole command, and which share they are of those that passed."""
        used, began = processor_seconds(), time.monotonic()
        result = self.result(method, data, *options)
        seconds = processor_seconds() - used
        return result, seconds, seconds / (time.monotonic() - began)

    def scores(self, truth, labels):
        """The metrics of a file of labels against a file of true ones."""
        return json.loads(self.run("eval", truth, labels, "--json", "-"))["metrics"]
