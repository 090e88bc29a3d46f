"""The methods that are compared, those of the paper in its names, what is measured of them, and tables of it."""

import statistics
from collections import namedtuple

from common.markdown import table

Method = namedtuple("Method", "name options color")
# `seconds`: without `setup`, what finding L by power iterations took; `ended`: whether its rule was met; `least`: the least F, or
# what comes near it.
Run = namedtuple("Run", "seconds setup iterations objective gap ended least")

FISTA = {"solver": "fista", "step": "fixed", "momentum": "plain"}
PUBLISHED, OURS = "k-FCFW", "k-FCFW, ours"
PROXIMAL = ("FISTA-BN", "FISTA-BS", "FISTA-AS")
ADMM = "ADMM-AS"
METHODS = [
    Method(PUBLISHED, {"solver": "fcfw", "inner": "pqn", "atoms": "all"}, "#e69f00"),
    Method(OURS, {"solver": "fcfw"}, "#d55e00"),
    Method(PROXIMAL[0], {**FISTA, "prox": "box"}, "#999999"),
    Method(PROXIMAL[1], {**FISTA, "prox": "bisect"}, "#56b4e9"),
    Method(PROXIMAL[2], {**FISTA, "prox": "active"}, "#0072b2"),
    Method("FISTA-AS, restarted", {"solver": "fista", "step": "fixed", "prox": "active"}, "#332288"),
    Method("FISTA, ours", {"solver": "fista"}, "#009e73"),
    Method(ADMM, {"solver": "admm", "rho": "1", "prox": "active"}, "#cc79a7"),
    Method("ADMM-AS, balanced", {"solver": "admm", "prox": "active"}, "#882255"),
]
# With the published sizes: one proximity operator is enough to compare with.
FEW = (PUBLISHED, OURS, PROXIMAL[2], "FISTA, ours")
RULE = {"rule": "change", "tol": "1e-4"}
LINES = f"""**{PUBLISHED}**: Algorithm 1 as published: PQN inside, all atoms kept, every iteration on all features. **{OURS}**: the default of the command: projected
Newton inside, atoms without weight dropped, F never rises, for logistic regression also working sets and screening. **FISTA-BN, -BS, -AS**: as published, a fixed
L, plain momentum. The paper does not say how L is had: ours is found by power iterations, which are left out of the seconds and stand beside them as setup. *restarted*: the momentum begins anew where F rises. **FISTA, ours**: that, L by backtracking, a proximity operator that sorts nothing.
**{ADMM}**: rho = 1. *balanced*: rho follows the residuals. All end by the paper's rule, a relative change of F of at most 1e-4; seconds are those of the processor, one thread.
"""


def setup_of(options, before):
    """The part of the seconds before the first iterate that is the finding of L."""
    return before if options.get("step") == "fixed" else 0.0


def flags(options):
    """As arguments of the command."""
    return [part for name, value in options.items()
            for part in ([f"--no-{name}"] if value == "false" else [f"--{name}", value])]


def spread(values, digits=3):
    """Mean and standard deviation."""
    values = list(values)
    mean = f"{statistics.mean(values):.{digits}g}"
    return mean if len(values) < 2 else f"{mean} +- {statistics.stdev(values):.2g}"


def excess(run):
    """How far above the least F it ended, relative."""
    return run.objective / run.least - 1


def table_of(by_method):
    """{method: [Run, ...]} as a table of means and spreads over the replications."""
    header = ["method", "seconds", "setup", "iterations", "F", "F / F* - 1", "ended by the rule"]
    rows = [[name, spread(run.seconds for run in runs), spread(run.setup for run in runs), spread(run.iterations for run in runs), spread((run.objective for run in runs), 7),
             spread(max(excess(run), 0) for run in runs), f"{sum(run.ended for run in runs)} of {len(runs)}"] for name, runs in by_method.items()]
    return table(header, rows)
