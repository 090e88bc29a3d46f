#!/usr/bin/env python3
"""The table of README.md, from the figures of bench/RESULTS.md: the largest size of some rows, with the best instruction set.

    bench/summary.py             # puts it into README.md
    bench/summary.py --check     # fails where README.md has another one; tests/docs calls it"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BEGIN, END = "<!-- bench/summary.py -->\n", "<!-- end of bench/summary.py -->"
# What people come for, won or not, in these words, and whether answers differ, so that their scores are told.
ROWS = {
    "ncut-graph": ("normalized cut of a graph of 15 neighbors, 10 clusters", True),
    "kpalm-lloyd": ("k-means, 16 columns, 100 clusters, 20 iterations", False),
    "affinity-knn": ("graph of 15 nearest neighbors, 16 columns", False),
    "affinity-gaussian": ("gaussian similarities of all pairs, 64 columns", False),
    "ksupport-lasso": ("sparse logistic regression, 500 samples of n features", True),
    "text": ("documents to 20 columns", True),
}


def rows(report, name):
    """The lines of a row's table, as dicts by the words of its head."""
    section = re.search(rf"(?ms)^## {name}: .*?(?=^## |\Z)", report).group(0)
    lines = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in section.split("\n") if line.startswith("|")]
    return [dict(zip(lines[0], cells)) for cells in lines[2:]]


def entry(row, with_score):
    """3.05 s, 67 MiB, cut 0.4839"""
    seconds = row["seconds"].split(" (")[0]
    if not row["peak MiB"]:
        return seconds
    name, score = list(row.items())[-1]
    told = f", {name} {float(score.split()[0]):.6g}" if with_score else ""
    return f"{float(seconds):.3g} s, {row['peak MiB']} MiB{told}"


def summary(report):
    lines = ["| work | n | cleave | others |", "| --- | --- | --- | --- |"]
    for name, (words, with_score) in ROWS.items():
        found = rows(report, name)
        size = list(found[-1].values())[0]
        last = [row for row in found if list(row.values())[0] == size]
        ours = [row for row in last if row["who"].startswith("cleave")][-1]
        others = [f"{row['who']}: {entry(row, with_score)}" for row in last if not row["who"].startswith("cleave")]
        lines.append(f"| {words} | {int(size):,} | {entry(ours, with_score)} | {'; '.join(others)} |")
    isa = ours["who"].split()[-1]
    machine = re.search(r"(?m)^Machine: (.*?)\.", report).group(1)
    return "\n".join([*lines, "", f"Medians of 5, 2 threads each, {machine}, cleave with {isa}; peak memory is that of the process. Scores stand where answers differ. All rows, sizes and "
                      "versions, and where cleave is behind: [bench/RESULTS.md](bench/RESULTS.md), made by `make bench`."]) + "\n"


def main():
    with open(f"{ROOT}/bench/RESULTS.md") as file:
        words = summary(file.read())
    with open(f"{ROOT}/README.md") as file:
        before, rest = file.read().split(BEGIN)
    now, after = rest.split(END)
    if sys.argv[1:] == ["--check"]:
        sys.exit("README.md: the table is not that of bench/RESULTS.md; bench/summary.py writes it" if now != words else 0)
    with open(f"{ROOT}/README.md", "w") as file:
        file.write(before + BEGIN + words + END + after)


main()
