"""Tables 1 to 5: all methods on the newsgroups, from features in files."""

import statistics
import tempfile
from collections import namedtuple

from common.markdown import table
from common.verdicts import processor_seconds
from methods import METHODS, options, scores_before_assignment, title_of
from published import STEPS, TABLE_5, TABLES_1_TO_4

K = 5
# By recipe (raw.py): the paper's 15 as printed; and 30, which is 15 on (1 + cos)/2 and comes closest to its tables.
SHIFTS = {"printed": 15, "ours": 30}

Score = namedtuple("Score", "seconds rate ari v ari_after v_after")

HEAD = f"""Johnell and Haghir Chehreghani, *Efficient Optimization of Dominant Set Clustering with Frank-Wolfe Algorithms*, section 6.4.
A = 1 + cos, K = {K}; cells are published value, then ours. ARI and V over the documents that have a cluster; AR is
their share; seconds are processor time of the solver, ours and theirs on different machines.
"""


def options_of(recipe, method, count, home):
    """Of the command, on features of the recipe."""
    return ["--affinity", "cosine", "-k", K, "--shift", SHIFTS[recipe], "--assign", "--home", home, *options(method, count)]


def timed(cleave, features, chosen):
    """(result, processor seconds of the whole command)."""
    began = processor_seconds()
    return cleave.result("dominant", features, *chosen), processor_seconds() - began


def study_set(cleave, features, labels, recipe, steps, home):
    """{(method, steps): score}."""
    found = {}
    _, idle = timed(cleave, features, options_of(recipe, METHODS[0], 1, home) + ["--truth", labels])
    with tempfile.TemporaryDirectory() as folder:
        for method in METHODS:
            for count in steps:
                result, spent = timed(cleave, features, options_of(recipe, method, count, home) + ["--truth", labels])
                before, after = scores_before_assignment(cleave, result, labels, folder), result["metrics"]
                found[method.title, count] = Score(max(spent - idle, 1e-3), before["assignment_rate"], before["ari"],
                                                   before["v_measure"], after["ari"], after["v_measure"])
    return found


def pair(published, ours, digits=3):
    """Published value, then ours."""
    return f"{published:.{digits}f} - {ours:.{digits}f}"


def table_of_set(number, found):
    """Tables 1 to 4."""
    rows = []
    for (title, steps), ours in found.items():
        seconds, *published = TABLES_1_TO_4[title][number][STEPS.index(steps)]
        rows.append([title, str(steps), pair(seconds, ours.seconds, 2),
                     *(pair(*both) for both in zip(published, (ours.rate, ours.ari, ours.v)))])
    return table(["method", "t", "seconds", "AR", "ARI", "V"], rows)


def table_5(sets):
    """After assignment, a pair of columns per set."""
    rows = []
    for title, steps in sets[0]:
        cells = []
        for number, found in enumerate(sets):
            ours = found[title, steps]
            ari, v = TABLE_5[title][STEPS.index(steps)][number]
            cells += [pair(ari, ours.ari_after), pair(v, ours.v_after)]
        rows.append([title, str(steps), *cells])
    names = [f"{metric}, set {number}" for number in range(1, len(sets) + 1) for metric in ("ARI", "V")]
    return table(["method", "t", *names], rows)


def differences(sets):
    """How far ours are from the published values, by method: mean of ours less published."""
    rows = []
    for method in METHODS:
        gaps = []
        for number, found in enumerate(sets):
            for (title, steps), ours in found.items():
                if title == method.title:
                    published = TABLES_1_TO_4[title][number][STEPS.index(steps)][1:]
                    gaps.append([y - x for x, y in zip(published, (ours.rate, ours.ari, ours.v))])
        rows.append([method.title, *(f"{statistics.mean(column):+.3f}" for column in zip(*gaps))])
    return table(["method", "AR", "ARI", "V"], rows)


def measure(cleave, features, labels, recipe, steps, home):
    """A dictionary of scores a set."""
    return [study_set(cleave, x, y, recipe, steps, home) for x, y in zip(features, labels)]


def report(by_recipe, home, quick):
    """{file name: text}."""
    parts = [f"# {title_of('Dominant sets on newsgroups: tables 1 to 5', quick)}\n", HEAD, f"Home of the affinity: {home}.\n"]
    for recipe, sets in by_recipe.items():
        parts += [f"# Recipe: {recipe}, shift {SHIFTS[recipe]}\n", "## Ours less published, means over sets and t\n", differences(sets)]
        for number, found in enumerate(sets):
            parts += [f"## Table {number + 1}: newsgroups{number + 1}\n", table_of_set(number, found)]
        parts += ["## Table 5: after assignment\n", table_5(sets)]
    return {"newsgroups.md": "\n".join(parts)}
