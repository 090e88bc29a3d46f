"""The methods that are compared, in the names of the paper, and the rules that end them."""

METHODS = [
    ("k-FCFW", {"solver": "fcfw"}),
    ("k-FCFW, as published", {"solver": "fcfw", "working-set": "false", "screening": "false"}),
    ("FISTA-BN", {"solver": "fista", "step": "fixed", "prox": "box"}),
    ("FISTA-BS", {"solver": "fista", "step": "fixed", "prox": "bisect"}),
    ("FISTA-AS", {"solver": "fista", "step": "fixed", "prox": "active"}),
    ("ADMM-AS", {"solver": "admm", "prox": "active"}),
    ("FISTA, backtracking", {"solver": "fista"}),
    ("semismooth Newton", {"solver": "newton"}),
]
RULES = [("the paper's rule, 1e-4", {"rule": "change", "tol": "1e-4"}),
         ("gap 1e-4", {"rule": "gap", "tol": "1e-4"}),
         ("gap 1e-6", {"rule": "gap", "tol": "1e-6"})]
COLORS = ["#d55e00", "#e69f00", "#999999", "#56b4e9", "#0072b2", "#cc79a7", "#009e73", "#000000"]


def flags(options):
    """As arguments of the command."""
    return [part for name, value in options.items()
            for part in ([f"--no-{name}"] if value == "false" else [f"--{name}", value])]
