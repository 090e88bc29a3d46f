"""The report: a table a data set and kernel, and the pictures of figures 2 and 3."""

from charts import picture
from common.markdown import table
from study import COLORS, LARGE, MOST, PAPER_CHANGE, PAPER_ITERATIONS, limit

FIGURE_3 = ("algorithm 1", "pgd", "fw, exact step")
WARNINGS = ("too close to the identity to tell clusters apart", "too close to all ones to tell clusters apart")


def warning(result):
    """What the result warns of, as the end of a sentence."""
    said = " ".join(result.get("warnings", []))
    return "".join(f"; {words}" for words in WARNINGS if words in said)


def cell(value, digits=6):
    return f"{value:.{digits}g}"


def table_of(study):
    """Where each solver was when the paper's rule would have stopped it, and where it ended."""
    header = ["solver", "f by the paper's rule", "iterations", "processor s", "f at the end", "gap / f", "iterations", "processor s", "stop"]
    rows = []
    for run in study.runs:
        course, result = run.course, run.result
        began = course["seconds"][0]
        early = ["-", "-", "-"]
        if run.stopped is not None:
            at = run.stopped
            early = [cell(course["objective"][at], 8), str(at), cell(course["seconds"][at] - began, 3)]
        value = result["objective"]["value"]
        gap = result["certificate"]["value"] / value if value else 0
        rows.append([run.solver, *early, cell(value, 8), cell(gap, 2), str(result["iterations"]),
                     cell(course["seconds"][-1] - began, 3), result["stop"]])
    return table(header, rows)


def against_time(run):
    """f by seconds, from the first iteration on."""
    course = run.course
    return [(max(s - course["seconds"][0], 1e-4), f) for s, f in zip(course["seconds"], course["objective"]) if f > 0]


def to_the_end(run):
    """f - f* with the f* that the solver itself comes to, as in figure 3."""
    spots = against_time(run)
    last = min(f for _, f in spots)
    return [(s, f - last) for s, f in spots if f > last * (1 + 1e-12)]


def figures(studies):
    """{file name: SVG} of one data set."""
    panels = [(f"{s.set.name}, {s.kernel} kernel", {run.solver: against_time(run) for run in s.runs}) for s in studies]
    gaps = [(f"{s.set.name}, {s.kernel} kernel: f - f*",
             {run.solver: to_the_end(run) for run in s.runs if run.solver in FIGURE_3 and to_the_end(run)})
            for s in studies]
    name = studies[0].set.name
    pictures = {f"figure2-{name}.svg": picture(panels, COLORS)}
    if all(curves for _, curves in gaps):
        pictures[f"figure3-{name}.svg"] = picture(gaps, {c: COLORS[c] for c in FIGURE_3})
    return pictures


def report(by_set, skipped, seconds, quick):
    """All files of the report by name."""
    files, parts = {}, [f"# Simplicial symmetric NMF: figures 2 and 3{' (quick)' if quick else ''}\n",
                        f"Every solver from the same random start, for at most {limit('paper', seconds):g} processor s each, with the "
                        f"calibrated kernel {limit('calibrated', seconds):g} s, and {MOST} iterations ({PAPER_ITERATIONS} from {LARGE} objects on). The paper's rule stops at a change of f "
                        f"below {PAPER_CHANGE:g} or after {PAPER_ITERATIONS} iterations; ours at gap <= 1e-4 f. Algorithm 1 is the paper's, with "
                        "the step gap / C of theorem 2.\n"]
    if skipped:
        parts.append(f"Not here, and left out: {', '.join(skipped)}.\n")
    for studies in by_set:
        the_set = studies[0].set
        pictures = figures(studies)
        files.update(pictures)
        parts.append(f"## {the_set.name}: {the_set.n} objects, {the_set.k} clusters\n")
        parts += [f"![{name}]({name})\n" for name in pictures]
        for study in studies:
            parts.append(f"**{study.kernel} kernel**: gamma {study.gamma:.6g}, mean similarity "
                         f"{study.result['mean_similarity']:.4g}, 1/k = {1 / the_set.k:.4g}{warning(study.result)}\n")
            parts.append(table_of(study))
    files["symnmf.md"] = "\n".join(parts)
    return files
