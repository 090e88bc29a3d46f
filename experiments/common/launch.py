"""What the command lines of the experiments share: options, where data and reports are."""

import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.environ.get("CLEAVE_DATA", os.path.join(ROOT, "../shared/data"))


def add_program(parser):
    """Program and threads."""
    parser.add_argument("--cleave", default=os.path.join(ROOT, "build/cleave"), help="the program [build/cleave]")
    parser.add_argument("--threads", type=int, default=0, metavar="T", help="threads [all]")


def add_options(parser, name):
    """Output folder, program and threads."""
    parser.add_argument("outdir", nargs="?", default=os.path.join(ROOT, "build/experiments", name),
                        help=f"where the report goes [build/experiments/{name}]")
    add_program(parser)


def check_program(parser, chosen):
    """End with a usage error unless the program is there."""
    if not os.access(chosen.cleave, os.X_OK):
        parser.error(f"{chosen.cleave} is not there: run make first")


def said(paper, chosen):
    """The command that makes RESULTS.md of a paper."""
    return f"experiments/run {paper}" + (f" --threads {chosen.threads}" if chosen.threads else "")


def write_report(outdir, files, first):
    """Write {file name: text}, and say where the first to read is."""
    os.makedirs(outdir, exist_ok=True)
    for name, text in files.items():
        with open(os.path.join(outdir, name), "w", encoding="utf-8") as file:
            file.write(text)
    print(os.path.join(outdir, first))
