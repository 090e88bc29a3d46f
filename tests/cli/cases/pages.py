"""What the page of --report says: headings, figures, tables and words. How it looks is for tests/page."""
import html
import re

from harness import case, check, cleave, read, write


def text_of(path):
    """The words of a page, without markup, in one line."""
    page = re.sub("<style>.*?</style>|<script.*?</script>", " ", read(path).decode(), flags=re.S)
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", page)).split())


@case
def a_cut_within_rounding_of_its_bound_has_reached_it():
    table = cleave("demo", "rings").out
    check(re.search(r"objective +ncut 0 \(minimized\)\nbound +eigenvalue 0, reached\n", table), table)
    page = text_of("cleave-demo/rings.html")
    check("this one reaches that" in page and "eigenvalue 0 reached" in page, page)
    check("e-16" not in page and "100 %" not in page.split("Sizes")[0], page)
    check(cleave("ncut", "cleave-demo/rings.csv", "-k", 2, "--affinity", "minimax", "--json", "-").json()["bound"]["gap_percent"] == 0, "JSON")


def tables_of(path, name):
    """The tables of a class, each a list of rows of words."""
    page = read(path).decode()
    return [[[html.unescape(re.sub("<[^>]*>", "", cell)) for cell in re.findall("<t[hd].*?</t[hd]>", row, re.S)]
             for row in re.findall("<tr.*?</tr>", table, re.S)]
            for table in re.findall(f'<table class="{name}">(.*?)</table>', page, re.S)]


def many_classes(classes, each=6, noise=0):
    """Groups in a row, far from each other, with their names."""
    rows = [f"{100 * c + i % 3},{i % 2},class {c}" for c in range(classes) for i in range(each)]
    return write("x.csv", "\n".join(["x,y,class", *rows, *(f"{37 * i - 5000},{7777 * i + 400},class 0" for i in range(noise))]) + "\n")


@case
def many_true_classes_are_shown_whole_and_in_order():
    many_classes(20, noise=5)
    cleave("dominant", "x.csv", "-k", 20, "--gamma", 0.1, "--min-size", 3, "--report", "r.html", "-q")
    tables = tables_of("r.html", "counts")
    check(len(tables) > 1 and all(len(table[0]) <= 12 for table in tables), "as wide as a page of paper")
    check(tables[0][0][1] == "left out", "what is missing stands first")
    shown = [name for table in tables for name in table[0][1:]]
    check(shown[1:] == [str(c) for c in range(len(shown) - 1)], f"every cluster once: {shown}")
    check(all([row[0] for row in table[1:]] == [f"class {c}" for c in range(20)] for table in tables), "2 before 10")
    check(sum(int(cell) for table in tables for row in table[1:] for cell in row[1:]) == 125, "every object once")
