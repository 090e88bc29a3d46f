"""Verdicts on a paper: what it claims, what it prints, what is measured here. RESULTS.md is a table of them."""

import os
import re
import resource
import statistics
import subprocess
from collections import namedtuple

HEADER = ["claim", "where", "published", "ours", "command", "verdict"]
REPRODUCED, BETTER, NOT = "reproduced", "better", "not reproduced"
Verdict = namedtuple("Verdict", HEADER)


UNKNOWN = "reason not known"


def verdict(claim, where, published, ours, commands, holds, why, better=False):
    """A row. `commands`: one, or a list of them, of which those in parentheses are remarks; `holds`: the claim is true of what was
    measured; `better`: and our own form goes beyond it; `why`: where it is not true, where it fails and for which reason."""
    word = f"{NOT}: {why}" if not holds else BETTER if better else REPRODUCED
    parts = [commands] if isinstance(commands, str) else commands
    return Verdict(claim, where, published, ours, " ".join(part if part.startswith("(") else f"`{part}`" for part in parts), word)


def failing(names, reason=UNKNOWN):
    """Why a claim fails: where, and the reason."""
    return f"fails for {', '.join(names)}. {reason[:1].upper()}{reason[1:]}."


class Tests:
    """The cases of a test program that were run, and which of them passed: for claims that are theorems."""

    def __init__(self, build, name):
        self.name, path = name, os.path.join(build, "tests/certify", f"certify_{name}")
        if not os.access(path, os.X_OK):
            raise SystemExit(f"{path} is not there: cmake --build {build} --target certify_{name}")
        printed = subprocess.run([path], capture_output=True, text=True, check=False)
        lines = (printed.stdout + printed.stderr).splitlines()
        self.passed = {line.split("]")[1].strip() for line in lines if line.startswith("[       OK ]")}
        self.failed = {line.split("]")[1].strip() for line in lines if line.startswith("[  FAILED  ]")}

    def row(self, claim, where, *cases, more="", commands=()):
        """Whether these cases pass; a name that is none of them is a mistake of the list. `more`: what was measured besides, by `commands`."""
        unknown = [case for case in cases if case not in self.passed | self.failed]
        if unknown:
            raise SystemExit(f"certify_{self.name} has no case {', '.join(unknown)}")
        wrong = [case for case in cases if case in self.failed]
        return verdict(claim, where, "a theorem", f"{len(cases) - len(wrong)} of {len(cases)} tests pass: {', '.join(cases)} in "
                       f"tests/certify/test_{self.name}.c{more and f'; {more}'}", [f"ctest --test-dir build -R certify.{self.name}", *commands],
                       not wrong, failing(wrong))


def paired(first, second):
    """Mean and standard error of second - first, measured on the same problems."""
    steps = [b - a for a, b in zip(first, second, strict=True)]
    return statistics.mean(steps), statistics.stdev(steps) / len(steps) ** 0.5


def lower(first, second):
    """Whether `second` is lower than `first` on the same problems, by more than two standard errors."""
    step, error = paired(first, second)
    return step < -2 * error


def processor_seconds():
    """Of this process and those that it ran."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def document(title, rows, command, quick, note=""):
    """The text of RESULTS.md; `note` says what was left out."""
    seconds = processor_seconds()
    cells = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    lines = ["| " + " | ".join(row) + " |" for row in [HEADER, ["---"] * len(HEADER), *cells]]
    head = f"# {title}{' (quick: smaller sizes, no verdicts to rely on)' if quick else ''}\n\n"
    made = f"Made by `{command}` in {seconds:.0f} s of processor time, which is what seconds are in the table, too. {count(rows)}{note and ' ' + note}\n\n"
    return head + made + "\n".join(lines) + "\n"


def count(rows):
    """How many claims got which verdict."""
    found = {word: sum(row.verdict.startswith(word) for row in rows) for word in (REPRODUCED, BETTER, NOT)}
    return f"Of {len(rows)} claims {found[REPRODUCED]} are reproduced, {found[BETTER]} better, {found[NOT]} not reproduced."


def note_of(text):
    """What a RESULTS.md says was left out."""
    return next((line.split("not reproduced.", 1)[1].strip() for line in text.splitlines() if line.startswith("Made by ")), "")


def read(text):
    """The rows of a RESULTS.md."""
    rows = [[cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            for line in text.splitlines() if line.startswith("| ")]
    return [Verdict(*row) for row in rows[2:]]
