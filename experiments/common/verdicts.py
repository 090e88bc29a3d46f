"""Verdicts on a paper: what it claims, what it prints, what is measured here. RESULTS.md is a table of them."""

import re
import resource
import statistics
from collections import namedtuple

HEADER = ["claim", "where", "published", "ours", "command", "verdict"]
REPRODUCED, BETTER, NOT = "reproduced", "better", "not reproduced"
Verdict = namedtuple("Verdict", HEADER)


def verdict(claim, where, published, ours, command, holds, why, better=False):
    """A row. `holds`: the claim is true of what was measured; `better`: and our own form goes beyond it; `why`: what was found
    instead, where it is not true."""
    word = f"{NOT}: {why}" if not holds else BETTER if better else REPRODUCED
    return Verdict(claim, where, published, ours, f"`{command}`", word)


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


def read(text):
    """The rows of a RESULTS.md."""
    rows = [[cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            for line in text.splitlines() if line.startswith("| ")]
    return [Verdict(*row) for row in rows[2:]]
