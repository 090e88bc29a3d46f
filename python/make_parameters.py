"""Write cleave/_parameters.py: the parameters of the estimators, with types, defaults and documentation, from the option
tables of the library. A method that is not among the estimators below gets one that has its own name.

    make_parameters.py LIBRARY BINDING_FOLDER OUTPUT
"""
from __future__ import annotations

import os
import pathlib
import re
import sys
import textwrap
import types
from typing import Any, NamedTuple

# Options that have another name in scikit-learn, or one that Python does not allow; fields of results likewise.
RENAMED = {"k": "n_clusters", "seed": "random_state", "threads": "n_jobs", "restarts": "n_init", "lambda": "alpha"}
ATTRIBUTES = {"centers": "cluster_centers_"}
# Of parameters that Python takes more for than the command, or says in other units.
SAYS = {"n_jobs": "number of threads, -1: all; None: as many as OpenMP is told; the result does not depend on it",
        "random_state": "seed of the random numbers; None: another one in each fit",
        "n_init": "independent starts; the best is kept. One where nothing is drawn: from an array, or by a method without chance",
        "n_clusters": "the number of clusters; (least, most), a range or 'auto', which is (2, 12): one for each, with `k_table_`, "
                      "and of these the suggested one",
        "time_limit": "stop after so many seconds, with the best result so far; 0: no limit"}


class Estimator(NamedTuple):
    """What an estimator is, beside what the library knows of its method."""

    method: str
    cost: str = ""
    references: tuple[str, ...] = ()
    example: str = ""
    renamed: dict[str, str] = RENAMED
    without: frozenset[str] = frozenset()  # options
    hidden: frozenset[str] = frozenset()  # fields of results
    defaults: dict[str, Any] = {}  # of parameters, where not those of the library
    says: dict[str, str] = {}  # of parameters, where not the help of the library or SAYS
    more: tuple[tuple[str, str, str], ...] = ()  # attributes: name, type, text
    about: str = ""  # after what the library says
    summary: str = ""  # in place of the library's


LINEAR = dict(
    method="ksupport",
    cost="Passes over X: with many features one for each look at all of them, and work on the few that matter.",
    references=("Liu, Yuan, Zhang, Liu and Metaxas, Efficient k-support-norm regularized minimization via fully "
                "corrective Frank-Wolfe method, 2016.",
                "Argyriou, Foygel and Srebro, Sparse prediction with the k-support norm, 2012."),
    renamed={**RENAMED, "k": "k", "intercept": "fit_intercept"},
    without=frozenset({"loss", "transposed", "path"}),
    hidden=frozenset({"weights", "intercepts", "classes", "class_names", "lambda"}),
    defaults={"k": None, "fit_intercept": True, "max_iter": 10000},
    says={"k": "the k of the norm: about how many weights are not 0 where alpha is large (a smaller alpha has more); None or 'auto': a tenth "
               "of the features",
          "solver": "the algorithm; auto: newton for up to 1024 features and at least as many samples, and for up to 4096 samples "
                    "where k is 1 or at most a hundredth of up to 32768 features, if there is no radius; else fcfw",
          "tol": "tolerance of the stopping rule; auto: 1e-6 for newton, else 1e-4"})

ESTIMATORS = {
    "Consensus": Estimator(
        "consensus", "n M k operations per sweep of M inputs; objects that no input tells apart cost as much as one.",
        ("Strehl and Ghosh, Cluster ensembles: a knowledge reuse framework for combining multiple partitions, 2002.",
         "Fred and Jain, Combining multiple clusterings using evidence accumulation, 2005."),
        """
        >>> a, b, c = [0, 0, 0, 1, 1, 1], [5, 5, 5, 9, 9, 9], [0, 0, 1, 1, 1, -1]
        >>> model = Consensus(2).fit([a, b, c])
        >>> bool(model.labels_[2] == model.labels_[0]), model.certificate_.holds
        (True, True)
        >>> model.confidence_.round(2)
        array([0.89, 0.89, 0.78, 1.  , 1.  , 1.  ])
        """, defaults={"n_clusters": 8},
        says={"tol": "not used: the search ends where no move lowers the cut"},
        more=(("agreement_", "NDArray[np.float64]", "of each input with the consensus, the adjusted Rand index"),),
        about="X is a list of clusterings of the same objects (fitted estimators, results, labels, memberships), or an array "
              "with a column of labels for each."),
    "DominantSets": Estimator(
        "dominant",
        "A step reads two rows of the affinity; where entries are computed, only those of objects that matter.",
        ("Pavan and Pelillo, Dominant sets and pairwise clustering, 2007.",
         "Johnell and Haghir Chehreghani, Efficient optimization of dominant set clustering with Frank-Wolfe "
         "algorithms."),
        """
        >>> X = np.array([[0, 0], [0, 0.5], [0.5, 0], [9, 9], [9, 8], [8, 9], [40, 0]])
        >>> DominantSets(min_size=2).fit_predict(X)
        array([ 1,  1,  1,  0,  0,  0, -1], dtype=int32)
        """, says={"tol": "the Frank-Wolfe gap at which a cluster is done, as a share of x'Ax; auto: 1e-6"}),
    "KPalm": Estimator(
        "kpalm", "At most n k p multiplications per iteration; the points are read once.",
        ("Voldman, Sabach and Teboulle, A novel class of globally convergent algorithms for clustering problems, "
         "2016.",),
        """
        >>> X = np.array([[1, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]], dtype=float)
        >>> model = KPalm(2).fit(X)
        >>> np.sort(model.cluster_centers_, axis=0)
        array([[ 1.,  2.],
               [10.,  2.]])
        >>> model.objective_, model.certificate_.holds
        (16.0, True)
        """, defaults={"n_clusters": 8},
        says={"tol": "tolerance of the stopping rule; auto: 1e-9, euclidean 1e-6",
              "object_alpha": "factors of alpha, one per object, as an array; 'same': 1, 'distance': by its mean distance to all",
              "start_membership": "memberships that kpalm starts from, an array n x n_clusters, in place of --initial-membership"}),
    "KSupportClassifier": Estimator(
        **LINEAR, summary="k-support-norm sparse logistic regression", example="""
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
        >>> model = KSupportClassifier(k=4).fit(X, y)
        >>> model.certificate_.holds, bool(model.score(X, y) > 0.95)
        (True, True)
        """, more=(("classes_", "NDArray[Any]", "the classes, ascending"),
                   ("coef_", "NDArray[np.float64]", "weights, 1 x features or classes x features"),
                   ("intercept_", "NDArray[np.float64]", "one per row of weights"))),
    "KSupportRegressor": Estimator(
        **LINEAR, summary="k-support-norm sparse least-squares regression", example="""
        >>> X, y = make_regression(100, 20, n_informative=3, random_state=0)
        >>> model = KSupportRegressor(k=3).fit(X, y)
        >>> model.certificate_.holds, bool(model.score(X, y) > 0.99)
        (True, True)
        """, more=(("coef_", "NDArray[np.float64]", "weights, one per feature"),
                   ("intercept_", "float", "the intercept"))),
    "MatrixPursuit": Estimator(
        "pursuit", "2 n^2 p operations per iteration; nothing of n x n is held.",
        ("Liu, Yuan, Zhang, Liu and Metaxas, Efficient k-support-norm regularized minimization via fully corrective "
         "Frank-Wolfe method, 2016, equation (10).", "Lai, Pan, Lu, Tang and Yan, Efficient k-support matrix pursuit, "
         "2014."),
        """
        >>> rng = np.random.default_rng(0)
        >>> X = np.vstack([rng.normal(size=(20, 1)) * [1, 0, 1, 0], rng.normal(size=(20, 1)) * [0, 1, 0, -1]])
        >>> model = MatrixPursuit(alpha=0.01).fit(X)
        >>> float(abs(model.affinity_matrix_[:20, 20:]).max())  # nothing between the two lines
        0.0
        """, renamed={**RENAMED, "k": "k"}, defaults={"k": None, "max_iter": 1000},
        says={"k": "the k of the norm: about how many entries of W are not 0 where alpha is large (a smaller alpha has more); None: ten per "
                   "object",
              "tol": "tolerance of the stopping rule; auto: 1e-4"},
        more=(("affinity_matrix_", "Any", "|W| + |W'|, sparse"),),
        about="`affinity_matrix_` = |W| + |W'| is an affinity of objects in the same subspace, for "
              "NormalizedCut(affinity='precomputed')."),
    "NormalizedCut": Estimator(
        "ncut", "A start costs a pass over the affinity; then a row for each object that moves, once or twice each.",
        ("Chen, Huang, Zhao and Shen, Multidimensional fractional programming for normalized cuts.",
         "Shi and Malik, Normalized cuts and image segmentation, 2000."),
        """
        >>> X = np.array([[1, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]], dtype=float)
        >>> model = NormalizedCut(2).fit(X)
        >>> bool(model.labels_[0] != model.labels_[5]), model.certificate_.holds
        (True, True)
        >>> bool(model.bound_.value <= model.objective_)
        True
        """, defaults={"n_clusters": 8},
        says={"tol": "end a descent when a step lowers the cut by no more than `tol` max(1, cut); auto: when no label changes"}),
    "SimplicialNMF": Estimator(
        "symnmf", "A product of the affinity with k vectors per iteration.",
        ("Zhao and Gordon, Frank-Wolfe optimization for symmetric-NMF under simplicial constraint, 2018.",),
        """
        >>> X = np.array([[1, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]], dtype=float)
        >>> memberships = SimplicialNMF(2).fit_transform(X)
        >>> memberships.sum(axis=1).round(6)
        array([1., 1., 1., 1., 1., 1.])
        """, defaults={"n_clusters": 8},
        says={"tol": "the Frank-Wolfe gap at which a run ends, as a share of the objective; auto: 1e-4"}),
}

ALWAYS = (("labels_", "the cluster of each object; -1: left out"),
          ("objective_", "what was optimized, recomputed from the data"),
          ("certificate_", "name, value, tolerance, holds, and what that proves, as a sentence"),
          ("bound_", "name and value of a bound that no answer can pass; None: there is none"),
          ("converged_", "whether the run ended by its own rule, not by a limit"), ("n_iter_", "iterations"),
          ("trace_", "one row per iteration, a structured array"), ("result_", "all of it, to save and verify"),
          ("n_features_in_", "features seen by fit"), ("feature_names_in_", "their names, where X has names"))
TYPES = {"labels_": "NDArray[np.int32]", "objective_": "float", "certificate_": "Certificate", "bound_": "Bound | None",
         "converged_": "bool", "n_iter_": "int", "trace_": "NDArray[Any]", "result_": "Result", "n_features_in_": "int",
         "feature_names_in_": "NDArray[Any]"}


class Parameter(NamedTuple):
    """A parameter of an estimator; `option` is None where it is none of the library's."""

    name: str
    option: str | None
    hint: str
    words: str  # its type in the documentation
    default: Any
    text: str


def load(library: str, folder: str) -> Any:
    """The option tables as the package reads them, without the rest of it, which needs NumPy."""
    os.environ["CLEAVE_LIBRARY"] = library
    package = types.ModuleType("cleave")
    package.__path__ = [str(pathlib.Path(__file__).parent / "cleave"), folder]
    sys.modules["cleave"] = package
    import cleave._library
    import cleave._options
    return cleave._options, cleave._library


def hints(option: Any, name: str) -> tuple[str, str]:
    """The type of a parameter, as a hint and in words."""
    if name == "random_state":
        return "int | np.random.RandomState | None", "int, RandomState instance or None"
    if name == "n_clusters" and option.meta == "N|LOW:HIGH":
        return 'int | Literal["auto"] | tuple[int, int] | range', "int, (least, most), range or 'auto'"
    if name == "n_jobs":
        return "int | None", "int or None"
    if option.kind == "choice":
        listed = ", ".join(f'"{choice}"' for choice in option.choices)
        return f"Literal[{listed}]", "{" + listed.replace('"', "'") + "}"
    if option.kind == "text" and "FILE" in (option.meta or ""):
        return "ArrayLike | str | None", "str, array-like or None"
    plain = {"int": "int", "real": "float", "flag": "bool", "bytes": "int | str", "text": "str | None"}[option.kind]
    if option.kind in ("int", "real") and option.word:
        return f'{plain} | Literal["{option.word}"]', f"{plain} or '{option.word}'"
    return plain, plain.replace(" | ", " or ")


def parameters(kind: Estimator, options: dict[str, Any], start: str | None, starts: str) -> list[Parameter]:
    found = []
    for option in options.values():
        if option.name in kind.without or option.name == "start":
            continue
        name = kind.renamed.get(option.name, option.name)
        hint, words = hints(option, name)
        default = kind.defaults.get(name, None if name == "n_jobs" else option.default)
        if default is None and "None" not in hint:
            hint, words = hint + " | None", words + " or None"
        text = option.help  # which names the value as the command does: N
        if option.meta and re.fullmatch("[A-Z]+", option.meta):
            text = re.sub(rf"\b{option.meta}\b", f"`{name}`", text)
        found.append(Parameter(name, option.name, hint, words, default, {**SAYS, **kind.says}.get(name, text)))
    if start:
        names = [name for name in starts.split("|") if name]
        default = options["start"].default
        listed = ", ".join(repr(name) for name in names)
        found.append(Parameter("init", "start", "ArrayLike | str | None", f"{{{listed}}} or array-like", default,
                               f"where a run starts: by name, or {start}"))
    found.append(Parameter("callback", None, "Callable[[dict[str, Any]], Any] | None", "callable or None", None,
                           "called in each iteration with a dict (restart, iteration, seconds, objective, certificate, "
                           "best); returning True ends the run, and what it raises is raised by fit. It may run in another "
                           "thread than the one that called fit, and never runs twice at a time"))
    found.append(Parameter("progress", None, "bool", "bool", False, "show a bar while fitting"))
    path = ("str | os.PathLike[str] | None", "path or None")
    found.append(Parameter("checkpoint", None, *path, None, "a file that keeps what a fit has found and where it is, so that a "
                           "fit that was killed can be gone on with"))
    found.append(Parameter("checkpoint_every", None, "float", "float", 60.0, "seconds between two checkpoints; 0: after each "
                           "iteration"))
    found.append(Parameter("resume", None, *path, None, "a checkpoint to go on from, of a fit with the same parameters on the "
                           "same data: the result is the one that it would have had. Needs a `random_state` that is a number; "
                           "`time_limit` includes the time used before"))
    return found


def in_python(text: str, kind: Estimator, listed: list[Parameter], tables: Any) -> str:
    """A text of the command: its flags as parameters; a sentence with a flag that is none is left out."""
    options = tables.method_options(kind.method)
    known = {p.option: options[p.option] for p in listed if p.option}
    kept = [tables.flags_in_python(sentence, known, kind.renamed, "`")
            for sentence in re.split(r"(?<=\.) (?=[A-Z\-|])", " ".join(text.split()))]
    return " ".join(sentence for sentence in kept if "--" not in sentence)


def fields(method: Any, kind: Estimator, library: Any) -> list[tuple[str, str, str]]:
    """The attributes that a method gives: name, type, text."""
    lib, text_of = library.lib, library.text_of
    kinds = {lib.CLV_FIELD_MATRIX: "NDArray[np.float64]", lib.CLV_FIELD_SPARSE: "Any", lib.CLV_FIELD_TEXT: "list[str]",
             lib.CLV_FIELD_INTEGER: "NDArray[np.int64]", lib.CLV_FIELD_REAL: "NDArray[np.float64]"}
    single = {lib.CLV_FIELD_TEXT: "str", lib.CLV_FIELD_INTEGER: "int", lib.CLV_FIELD_REAL: "float"}
    found = []
    for i in range(method.gives_count):
        info = method.gives[i]
        name, shape = text_of(info.name), text_of(info.shape)
        if "." in name or name == "labels" or name in kind.hidden:
            continue
        hint = kinds[info.kind] if shape else single.get(info.kind, kinds[info.kind])
        found.append((ATTRIBUTES.get(name, name + "_"), hint, text_of(info.help)))
    return found + list(kind.more)


def taken(method: Any, library: Any) -> list[tuple[str, str, str]]:
    """The attributes that say what a fit has chosen: name, type, text."""
    lib = library.lib
    clusters, similar = method.k_meaning == lib.CLV_K_CLUSTERS, method.takes == lib.CLV_TAKES_AFFINITY
    has_labels = lib.clv_method_gives(method, b"labels") != library.ffi.NULL
    return ([("n_clusters_", "int", "the number of clusters; of a range or 'auto', the one that was taken")] * (clusters and has_labels)
            + [("affinity_", "str", "the affinity; of 'auto', the one that was taken. Not there where time ended before it")] * similar)


def section(title: str, entries: list[str]) -> list[str]:
    return ["", title, "-" * len(title), *entries]


def entry(head: str, text: str) -> list[str]:
    return [head, *textwrap.wrap(text[:1].upper() + text[1:] + ".", 110, initial_indent="    ", subsequent_indent="    ")]


def documentation(name: str, kind: Estimator, method: Any, listed: list[Parameter], given: list[tuple[str, str, str]],
                  tables: Any, library: Any) -> str:
    text_of = library.text_of
    summary = kind.summary or text_of(method.summary)
    about = " ".join([in_python(text_of(method.about), kind, listed, tables), kind.about]).strip()
    lines = [summary[:1].upper() + summary[1:] + ".", "", *textwrap.wrap(about, 114)]
    body: list[str] = []
    for p in listed:
        body += entry(f"{p.name} : {p.words}, default={p.default!r}", in_python(p.text, kind, listed, tables) or p.text)
    lines += section("Parameters", body)
    body = []
    labels = library.lib.clv_method_gives(method, b"labels") != library.ffi.NULL
    for attribute, text in ALWAYS:
        if attribute != "labels_" or labels:
            body += entry(f"{attribute} : {TYPES[attribute]}", text)
    for attribute, hint, text in [*given, *taken(method, library)]:
        body += entry(f"{attribute} : {hint}", text)
    lines += section("Attributes", body)
    notes = [f"Certificate: {text_of(method.certificate)}. When it holds: {text_of(method.holds)}"]
    notes += [f"Cost: {kind.cost}"] if kind.cost else []
    lines += section("Notes", [line for note in notes for line in [*textwrap.wrap(note, 114), ""]][:-1])
    if kind.references:
        lines += section("References", [line for i, text in enumerate(kind.references, 1) for line in textwrap.wrap(
            f".. [{i}] {text}", 114, subsequent_indent="       ")])
    if kind.example:
        first = [f">>> from cleave import {name}"]
        if "np." in kind.example:
            first.insert(0, ">>> import numpy as np")
        made = re.search(r"(?:make|load)_\w+", kind.example)
        if made:
            first.insert(0, f">>> from sklearn.datasets import {made[0]}")
        lines += section("Examples", [*first, *textwrap.dedent(kind.example).strip().splitlines()])
    return "\n".join(lines)


def written(name: str, kind: Estimator, tables: Any, library: Any) -> str:
    """The class with the parameters of one estimator."""
    method = tables.METHODS[kind.method]
    options = tables.method_options(kind.method)
    listed = parameters(kind, options, library.text_of(method.start_holds),
                        library.text_of(method.starts) or "")
    given = fields(method, kind, library)
    text = documentation(name, kind, method, listed, given, tables, library)
    shown = textwrap.indent(text, "    ").strip().replace("\\", "\\\\")
    of = {p.name: p.option for p in listed if p.option}
    initial = {p.name: options[p.option].default for p in listed if p.option}
    labels = library.lib.clv_method_gives(method, b"labels") != library.ffi.NULL
    lines = [f"class {name}:", f'    """{shown}', '    """', "", f"    _method: ClassVar[str] = {kind.method!r}",
             "    _option_of: ClassVar[dict[str, str]] = {",
             *(f"        {key!r}: {option!r}," for key, option in of.items()), "    }",
             "    _initial: ClassVar[dict[str, Any]] = {  # what the library does unless told",
             *(f"        {key!r}: {value!r}," for key, value in initial.items()), "    }"]
    fields_of_results = tuple(key for key, _, _ in given[: len(given) - len(kind.more)])
    lines.append(f"    _gives: ClassVar[tuple[str, ...]] = {fields_of_results!r}")
    lines += [f"    {key}: {hint}" for key, hint in TYPES.items() if key != "labels_" or labels]
    lines += [f"    {key}: {hint}" for key, hint, _ in [*given, *taken(method, library)]]
    lines += ["", "    def __init__(", "        self,"]
    for i, p in enumerate(listed):
        lines += ["        *,"] if i == 1 else []
        lines.append(f"        {p.name}: {p.hint} = {p.default!r},")
    lines += ["    ) -> None:", *(f"        self.{p.name} = {p.name}" for p in listed)]
    return "\n".join(lines)


def main() -> None:
    library_path, folder, output = sys.argv[1:]
    tables, library = load(library_path, folder)
    known = {kind.method for kind in ESTIMATORS.values()}
    kinds = dict(ESTIMATORS)
    kinds.update({name.replace("-", " ").title().replace(" ", ""): Estimator(name)
                  for name in tables.METHODS if name not in known})
    text = ('"""The parameters of the estimators. Written by make_parameters.py from the option tables of the library."""\n'
            "from __future__ import annotations\n\nimport os\nfrom typing import Any, Callable, ClassVar, Literal\n\n"
            "import numpy as np\nfrom numpy.typing import ArrayLike, NDArray\n\n"
            "from ._result import Bound, Certificate, Result\n\n"
            f"ATTRIBUTES = {ATTRIBUTES!r}\nESTIMATORS = {sorted(kinds)!r}\n")
    for name, kind in kinds.items():
        text += "\n\n" + written(name, kind, tables, library) + "\n"
    pathlib.Path(output).write_text(text)


if __name__ == "__main__":
    main()
