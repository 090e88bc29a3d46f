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


@case
def a_consensus_shows_its_inputs():
    many_classes(3, each=30)
    for i in range(11):
        cleave("kpalm", "x.csv", "-k", 2 + i, "--seed", i, "--json", f"r{i}.json", "-q")
    names = [f"r{i}.json" for i in range(11)]
    cleave("consensus", *names, "-k", 3, "--report", "r.html", "-q")
    page, text = read("r.html").decode(), text_of("r.html")
    check("r6.json, r7.json and 3 more" in text, "eight are not all")
    for part in ('id="plane"', 'id="heat"', "Co-association", 'id="confidences"', '"confidence":['):
        check(part in page, f"there is no {part}")
    cleave("consensus", *names, "--medoid", "--report", "m.html", "-q")
    cleave("kpalm", "x.csv", "-k", 3, "--json", "k.json", "--membership", "u.npy", "-q")
    cleave("consensus", "u.npy", "k.json", "-k", 3, "--report", "s.html", "-q")
    for path in ("m.html", "s.html"):
        check("Co-association" in read(path).decode(), f"{path}: also of the medoid and of memberships")


def cards_of(path):
    return dict(re.findall("<dt>(.*?)</dt><dd>(.*?)</dd>", read(path).decode(), re.S))


@case
def cards_hold_figures_and_notes_the_sentences():
    many_classes(3, each=30)
    cleave("ncut", "x.csv", "-k", "2:4", "--report", "r.html", "-q")
    cards, text = cards_of("r.html"), text_of("r.html")
    check("why this affinity" not in cards and "k reason" not in cards and all(len(value) < 60 for value in cards.values()), f"{cards}")
    check("Why this affinity: " in text, "it is said all the same")
    check("K table" not in text and "Each number of clusters k objective" in text, "rows that have a k need no number")


@case
def rounding_is_no_progress():
    many_classes(3, each=30)
    cleave("ncut", "x.csv", "-k", 3, "--restarts", 3, "--affinity", "gaussian", "--gamma", 1, "--report", "r.html", "-q")
    convergence = text_of("r.html").split(" Convergence ")[1].split(" To get this again ")[0]
    check(not re.search("e-1[0-9]", convergence), f"differences of rounding are none: {convergence}")
    check("No iteration improved the start, and all restarts end at one value" in convergence, convergence)
    cleave("symnmf", "x.csv", "-k", 3, "--report", "s.html", "-q")
    names = re.findall('<text class="tick named" x="([0-9]+)"', read("s.html").decode())
    check(all(int(x) < 200 for x in names), f"the tolerance is named where no curve is: {names}")


@case
def words_of_a_page():
    write("same.csv", "x,y\n" + "1,2\n" * 30)
    table = cleave("kpalm", "same.csv", "-k", 3, "--report", "r.html", err="").out
    check("30 objects in 1 cluster (2 of 3 are empty)" in text_of("r.html") and "30 in 1 cluster (2 of 3 are empty)" in table, table)
    many_classes(3, each=30)
    cleave("symnmf", "x.csv", "-k", 3, "--report", "s.html", "-q")
    cleave("dominant", "x.csv", "--report", "d.html", "-q")
    check('"memberships":[' in read("s.html").decode() and '"weights":[' in read("d.html").decode(), "never called weights in symnmf")
    check(re.search(r"<td>k</td><td>all: [0-9]+</td>", read("d.html").decode()), "what was asked for, and what came of it")
    write("bare.csv", "x,y\n" + "".join(f"{i % 97},{i * i % 89}\n" for i in range(9000)))
    table = cleave("ncut", "bare.csv", "-k", 30, "--home", "computed", "--affinity", "gaussian", "--time-limit", 0.01, "--report", "t.html", err="warning").out
    if "not known" in table:  # the machine may be fast enough
        check("does not hold" not in table and "is not known; it holds if it is at most" in text_of("t.html"), table)


@case
def objects_that_no_other_explains():
    write("x.csv", "x,y,z\n" + "".join(f"{i % 7 + 1},{i * i % 11 + 1},{i * 5 % 13}\n" for i in range(60)))
    run = cleave("pursuit", "x.csv", "-k", 2, "--lambda", 100, "--report", "r.html", err="of 60 objects are explained by no other.*try a larger -k")
    page = text_of("r.html")
    written = int(re.search(r"([0-9]+) of the 60 objects (?:is|are) written as a combination of others", page).group(1))
    told = int(re.search(r"([0-9]+) of 60 objects are explained by no other", run.err).group(1))
    check(written + told == 60 and "Nothing was noticed" not in page, page)
