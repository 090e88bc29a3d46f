"""Calls of the command that an experiment is about."""

import json
import os
import subprocess
import tempfile
import time


class Cleave:
    """The program at `path`, on `threads` threads (0: all)."""

    def __init__(self, path, threads):
        self.path = path
        self.threads = str(threads) if threads else "all"

    def _execute(self, *arguments):
        """Standard output of one run and what it used; a failure is raised with the program's own sentence."""
        command = [self.path, *map(str, arguments), "--threads", self.threads]
        with tempfile.TemporaryFile("w+") as said, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said, text=True) as process:
            printed = process.stdout.read()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                said.seek(0)
                raise RuntimeError(f"{' '.join(command)}: {said.read().strip()}")
        return printed, usage

    def run(self, *arguments):
        """Standard output of one run."""
        return self._execute(*arguments)[0]

    def result(self, method, data, *options):
        """The JSON result of a method."""
        return json.loads(self.run(method, data, "--json", "-", *options))

    def timed(self, method, data, *options):
        """The JSON result, the processor seconds of the whole command, and which share they are of those that passed."""
        began = time.monotonic()
        printed, usage = self._execute(method, data, "--json", "-", *options)
        seconds = usage.ru_utime + usage.ru_stime
        return json.loads(printed), seconds, seconds / (time.monotonic() - began)

    def scores(self, truth, labels):
        """The metrics of a file of labels against a file of true ones."""
        return json.loads(self.run("eval", truth, labels, "--json", "-"))["metrics"]
