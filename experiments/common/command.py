"""Calls of the command that an experiment is about."""

import json
import os
import signal
import subprocess
import tempfile
import threading
import time

INTERRUPTED, TICKS = 130, os.sysconf("SC_CLK_TCK")


def interrupt_after(process, limit, over):
    """Ask a process for its best result so far once it has used so many processor seconds, which Linux tells."""
    while not over.wait(0.05):
        with open(f"/proc/{process.pid}/stat", encoding="utf-8") as file:
            spent = sum(map(int, file.read().rsplit(")", 1)[1].split()[11:13])) / TICKS
        if spent > limit:
            process.send_signal(signal.SIGINT)
            return


class Cleave:
    """The program at `path`, on `threads` threads (0: all)."""

    def __init__(self, path, threads):
        self.path = path
        self.threads = str(threads) if threads else "all"

    def _execute(self, *arguments, limit=None):
        """Standard output of one run and what it used; a failure is raised with the program's own sentence."""
        command, over = [self.path, *map(str, arguments), "--threads", self.threads], threading.Event()
        with tempfile.TemporaryFile("w+") as said, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said, text=True) as process:
            if limit is not None:
                watch = threading.Thread(target=interrupt_after, args=(process, limit, over))
                watch.start()
            printed = process.stdout.read()
            over.set()
            if limit is not None:
                watch.join()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode and (limit is None or process.returncode != INTERRUPTED):
                said.seek(0)
                raise RuntimeError(f"{' '.join(command)}: {said.read().strip()}")
        return printed, usage

    def run(self, *arguments):
        """Standard output of one run."""
        return self._execute(*arguments)[0]

    def result(self, method, data, *options):
        """The JSON result of a method."""
        return json.loads(self.run(method, data, "--json", "-", *options))

    def timed(self, method, data, *options, limit=None):
        """The JSON result, the processor seconds of the whole command, and which share they are of those that passed; after `limit`
        processor seconds the command is asked to end."""
        began = time.monotonic()
        printed, usage = self._execute(method, data, "--json", "-", *options, limit=limit)
        seconds = usage.ru_utime + usage.ru_stime
        return json.loads(printed), seconds, seconds / (time.monotonic() - began)

    def scores(self, truth, labels):
        """The metrics of a file of labels against a file of true ones."""
        return json.loads(self.run("eval", truth, labels, "--json", "-"))["metrics"]
