"""The same flowers as pandas, R and spreadsheets write them: the same clusters, and what was used is said."""
import csv
import gzip
import json
import os
import random

from harness import case, check, cleave, npy, read, write

IRIS = os.path.join(os.path.dirname(__file__), "..", "..", "..", "data", "iris.csv")


def flowers():
    with open(IRIS, newline="") as file:
        head, *rows = csv.reader(file)
    return head, rows


def table(head, rows, separator=",", end="\n"):
    return "".join(separator.join(map(str, row)) + end for row in [head] * bool(head) + rows)


def quoted(value):
    return f'"{value}"'


def shuffled(rows):
    rows = [[i, *row] for i, row in enumerate(rows)]
    random.Random(1).shuffle(rows)
    return rows


def from_r(head, rows):
    """As write.csv and write.table: texts in quotes, a name for every row."""
    return [quoted(h) for h in head], [[quoted(i + 1), *row[:4], quoted(row[4])] for i, row in enumerate(rows)]


def files(head, rows):
    """Name, text and what is said of it."""
    r_head, r_rows = from_r(head, rows)
    commas = [[value.replace(".", ",") for value in row[:4]] + row[4:] for row in rows]
    noted = [[*row[:4], quoted(row[4]), quoted('a\tb "" c')] for row in rows]
    named = "4 columns used; truth: species; dropped: column 1 (row names)"
    plain = "4 columns used; truth: species"
    return [
        ("pandas.csv", table(["", *head], [[i, *row] for i, row in enumerate(rows)]), named),
        ("no_index.csv", table(head, rows), plain),
        ("shuffled.csv", table(["", *head], shuffled(rows)), named),
        ("write_csv.csv", table([quoted(""), *r_head], r_rows), named),
        ("write_table.txt", table(r_head, r_rows, " "), named),
        ("excel.csv", "\ufeff" + table(head, commas, ";", "\r\n"), plain + "; decimal commas"),
        ("ids.dat", table(["customer_id", *head], [[f"C{i:03d}", *row] for i, row in enumerate(rows)], "\t"),
         "4 columns used; truth: species; dropped: customer_id (row names)"),
        ("quotes.tsv", table([*head, '"note, free ""text"""'], noted, "\t"),
         '4 columns used; truth: species; dropped: note, free "text" (as asked)'),
        ("bare.data", table(None, [row[:4] for row in rows]), "no header; 4 columns used"),
    ]


@case
def the_same_flowers_in_every_spelling():
    head, rows = flowers()
    cleave("kpalm", IRIS, "-k", 3, "--json", "whole.json", "-q")
    best = json.loads(read("whole.json"))
    for name, text, said in files(head, rows):
        write(name, text)
        drop = ("--drop", 6) if name == "quotes.tsv" else ()
        out = cleave("kpalm", name, "-k", 3, "--json", "r.json", *drop).out
        found = json.loads(read("r.json"))
        check(f"{'data':<17}{said}\n" in out and found["data"]["used"] == said, f"{name}: {out}")
        check(abs(found["objective"]["value"] / best["objective"]["value"] - 1) < 1e-6, f"{name}: {found['objective']}")
        cleave("verify", "r.json", name)
    cleave("kpalm", "quotes.tsv", "-k", 3, code=65,
           err=r"quotes.tsv: column 6 'note, free \"text\"' holds text.*: --drop 6, --label-column 6 or --categories onehot$")


@case
def compressed_on_both_sides():
    head, rows = flowers()
    with gzip.open("x.csv.gz", "wt") as file:
        file.write(table(head, rows))
    cleave("kpalm", "x.csv.gz", "-k", 3, "-q", "-o", "l.csv.gz", "--output-data")
    cleave("kpalm", IRIS, "-k", 3, "-q", "-o", "l.csv", "--output-data")
    check(gzip.decompress(read("l.csv.gz")) == read("l.csv"), "the same table")


@case
def dates_and_missing_cells_are_said_at_once():
    head, rows = flowers()
    rows = [[*row[:4], ("Rome", "Oslo")[i % 2], f"2024-01-{1 + i % 28:02d}"] for i, row in enumerate(rows)]
    rows[7][1] = rows[70][1] = "NA"
    write("x.csv", table([*head[:4], "city", "joined"], rows))
    cleave("kpalm", "x.csv", "-k", 3, code=65, err=r"x.csv: column 2 'sepal_width' has 2 missing cells \(lines 9 and 72\): .*; "
           r"column 5 'city' holds text.*; column 6 'joined' holds dates.*--drop 'joined'$")
    cleave("kpalm", "x.csv", "-k", 3, "--missing", "median", "--categories", "onehot", "--drop", "joined",
           out="5 columns used; dropped: joined .as asked.; city became 2 columns; 2 missing cells replaced by the median")


@case
def ids_of_all_kinds():
    head, rows = flowers()
    for name, make in (("tweet_id", lambda i: 1580661436132757506 + 37 * i), ("CustomerID", lambda i: 7 * i), ("userId", lambda i: i),
                       ("Customer ID", lambda i: 1000 - i), ("Unnamed: 0", lambda i: i),
                       ("order_no", lambda i: 3 * i), ("Kunden-Nr.", lambda i: 5000 + i), ("primary_key", lambda i: i)):
        write("x.csv", table([head[0], name, *head[1:]], [[row[0], make(i), *row[1:]] for i, row in enumerate(rows)]))
        cleave("kpalm", "x.csv", "-k", 3, out=rf"4 columns used; truth: species; dropped: {name} .row names.")


@case
def options_of_tables_on_other_files():
    npy("x.npy", [[float(i), 1.0] for i in range(20)])
    for option in (("--columns", "1"), ("--drop", "1"), ("--id-column", "1"), ("--missing", "mean"), ("--categories", "drop")):
        cleave("kpalm", "x.npy", "-k", 2, *option, code=64, err=f"{option[0]} is for .csv, .tsv and .txt files, and x.npy is none")
    cleave("kpalm", IRIS, "-k", 3, "--scale", "unit-rows", "--units", "data", "--centers", "c.csv", code=64, err="cannot be undone")
