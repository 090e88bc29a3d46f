"""What the page of --report says: headings, figures, tables and words. How it looks is for tests/page."""
import html
import re

from harness import case, check, cleave, read


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
