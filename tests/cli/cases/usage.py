"""Help, version, options, and what is answered to a wrong command line or environment."""
import json
import os
import random
import re
import subprocess

from harness import blobs_npy, case, check, cleave, npy, read, same_partition, write

COMMANDS = ("ncut", "affinity", "eval", "verify", "demo")


@case
def help_of_the_program():
    text = cleave("--help", out="Usage").out
    for name in COMMANDS:
        check(f"\n  {name} " in text, f"{name} is not in the help")
    check(cleave("help").out == text and cleave("-h").out == text, "three ways to ask, one answer")


@case
def help_of_every_command():
    for name in COMMANDS:
        text = cleave(name, "--help", out=f"Usage: cleave {name}").out
        check("Examples" in text and f"\n  cleave {name} " in text, f"no example for {name}")
        check(cleave("help", name).out == text, f"help {name} differs")
        check(max(map(len, text.splitlines())) <= 110, "lines of a width that can be read")
    for name in ("help", "man", "completion"):
        text = cleave("help", name, out=f"^Usage: cleave {name} ").out
        check(text == cleave(name, "--help").out == cleave(name, "-h").out, f"help {name} differs")


@case
def help_names_options_and_defaults():
    text = cleave("ncut", "--help").out
    for word in ("-k, --k N", "--affinity NAME", "gaussian", "[auto]", "--keep-diagonal", "--restarts N", "--dry-run",
                 "-o, --output FILE", "--label-column", "--truth FILE", "--time-limit SECONDS"):
        check(word in text, f"{word} is not in the help of ncut")


@case
def version():
    cleave("--version", out=r"^cleave \d+\.\d+\.\d+\n$")


OLD_BLAS = r"""
#include <stdio.h>
#include <stdlib.h>
static const char *told(void) { const char *core = getenv("OPENBLAS_CORETYPE"); return core ? core : "Prescott"; }
char *openblas_get_corename(void) { return (char *)told(); }
static __attribute__((constructor)) void note(void) {
    FILE *file = fopen("cores", "a");
    fprintf(file, "%s\n", told());
    fclose(file);
}
"""


@case
def an_old_blas_is_told_of_the_processor():
    """An OpenBLAS that takes the processor for an old one, until it is told: the command begins again, once."""
    write("old.c", OLD_BLAS)
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", "old.so", "old.c"], check=True)
    old = {"LD_PRELOAD": os.path.abspath("old.so"), "ASAN_OPTIONS": "verify_asan_link_order=0"}
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_CORETYPE"}
    with open("/proc/cpuinfo", encoding="ascii") as lines:
        flags = set(next((line for line in lines if line.startswith("flags")), "").split())
    better = ["SkylakeX"] if {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"} <= flags else ["Haswell"] if {"avx2", "fma"} <= flags else []
    for told, expected in (({}, ["Prescott", *better]), ({"OPENBLAS_CORETYPE": "Prescott"}, ["Prescott"])):
        write("cores", "")
        cleave("--version", env={**environment, **old, **told})
        check(read("cores").decode().split() == expected, f"{read('cores').split()} instead of {expected}")


@case
def no_command():
    cleave(code=64, err="a command is missing")


@case
def unknown_command_names_the_nearest():
    cleave("nctu", code=64, err="no command 'nctu'; did you mean ncut")
    cleave("affin", code=64, err="did you mean affinity")
    cleave("help", "evla", code=64, err="did you mean eval")
    cleave("--frobnicate", code=64, err="is not a command")
    for typed, meant in (("spectral", "ncut"), ("kmeans", "kpalm"), ("Kmeans", "kpalm"), ("k-means", "kpalm"), ("nmf", "symnmf"), ("metrics", "eval")):
        cleave(typed, code=64, err=f"no command '{typed}'; did you mean {meant} ")
    cleave("quicksort", code=64, err=r"no command 'quicksort' \(see")  # a wrong guess is worse than none


@case
def unknown_option_names_the_nearest():
    cleave("ncut", "x.npy", "--restart", "3", code=64,
           err=r"^cleave ncut: there is no option --restart; did you mean --restarts")
    for typed, meant in (("--normalize", "; did you mean --scale"), ("--index-col", "; did you mean --id-column"), ("--sep", ", nor a need for one: what"),
                         ("--delimiter", ", nor a need for one: what")):
        cleave("ncut", "x.npy", typed, "1", code=64, err=f"there is no option {typed}{meant}")
    for typed in ("-o", "--output"):
        cleave("ksupport", "x.npy", "y.npy", typed, "l.csv", code=64,
               err=f"there is no option {typed}: --predict NEW --predict-output FILE labels new objects, as cleave predict RESULT.json NEW -o FILE does")
    cleave("ncut", "x.npy", "--zero-diagonl", code=64, err="did you mean --zero-diagonal")
    cleave("ncut", "x.npy", "--keep-diag", code=64, err="did you mean --keep-diagonal")
    cleave("ncut", "x.npy", "-x", code=64, err="no option -x")
    for typed, meant in (("n-clusters", "-k"), ("n_clusters", "-k"), ("clusters", "-k"), ("n_neighbors", "--neighbors"),
                         ("random_state", "--seed"), ("max_iter", "--max-iter"), ("n-jobs", "--threads")):
        cleave("ncut", "x.npy", f"--{typed}", 3, code=64, err=f"no option --{typed}; did you mean {meant} ")
    cleave("ncut", "x.npy", "--center", code=64, err=r"no option --center \(see")
    cleave("kpalm", "x.npy", "--center", code=64, err="did you mean --centers ")
    cleave("ncut", "x.npy", "--affinity", "guassian", code=64, err="or auto; did you mean gaussian$")
    cleave("ncut", "x.npy", "--affinity", "rbf", code=64, err="or auto; did you mean gaussian$")
    cleave("ncut", "x.npy", "--affinity", "blue", code=64, err="or auto$")


@case
def options_of_later_methods_are_refused():
    for name in ("membership", "centers", "weights"):
        cleave("ncut", "x.npy", "-k", 3, f"--{name}", "m.npy", code=64, err=f"no option --{name}")


@case
def wrong_values():
    cleave("ncut", "x.npy", "-k", "three", code=64, err=r"^cleave ncut: --k .*three")
    cleave("ncut", "x.npy", "-k", "3", "--gamma", "-1", code=64, err="--gamma .*-1")
    cleave("ncut", "x.npy", "-k", "3", "--gamma", "0", code=64, err="--gamma .*'0'.*above 0")
    cleave("ncut", "x.npy", "-k", "3", "--affinity", "gausian", code=64, err="--affinity .*gausian.*gaussian")
    cleave("ncut", "x.npy", "-k", "3", "--memory", "2Q", code=64, err="--memory .*2Q")
    cleave("ncut", "x.npy", "-k", "3", "--threads", "-2", code=64, err="--threads .*-2")
    cleave("ncut", "x.npy", "-k", code=64, err="--k needs a value: N")
    cleave("ncut", "x.npy", "--truth", "--json", "-", code=64, err="--truth needs a value: FILE")
    cleave("ncut", "x.npy", "--quiet=yes", code=64, err="--quiet takes no value")


@case
def operands():
    cleave("ncut", "-k", "3", code=64, err="DATA is missing")
    cleave("ncut", "a.npy", "b.npy", "-k", "3", code=64, err="'b.npy' is one argument too many")
    cleave("eval", "a.npy", code=64, err="LABELS is missing")
    cleave("verify", "a.json", code=64, err="DATA is missing")
    cleave("verify", "a", "b", "c", "d", code=66, err="cannot read a")
    cleave("demo", "iris", "rings", code=64, err="too many")


@case
def k_is_required():
    cleave("ncut", "x.npy", code=64, err=r"^cleave ncut: ncut needs -k N \(the number of clusters; .*\)$")


@case
def k_is_a_number_or_auto():
    text = " ".join(cleave("ncut", "--help").out.split())
    check("-k, --k N|LOW:HIGH the number of clusters; of a range, or auto (2:12), the one that its table suggests (required)" in
          text, text)
    for shown in (("consensus", "--help"), ("man", "consensus")):
        text = re.sub(r"\\f.|\\", "", " ".join(cleave(*shown).out.split()))
        check("without --medoid, the number of clusters;" in text and "that its table suggests (required)" in text, text)
        check(text.count("(required)") == 1 and "100,000 groups fewer [auto]" in text, "patience has a default")
    for k in ("0", "-1", "00"):
        cleave("ncut", "x.npy", "-k", k, code=64, err=f"--k '{k}' is not allowed.* from 1 to .*, or auto, or a range as 2:12")
    cleave("kpalm", "x.npy", "-k", "abc", code=64, err="--k 'abc' is not allowed.* from 1 to .*, auto, or a range as 2:12$")
    cleave("dominant", "x.npy", "-k", "abc", code=64, err="--k 'abc' is not allowed.* from 1 to [0-9]+, or all$")
    cleave("ncut", "x.npy", "-k", 2, "--memory", "8E", code=64, err="a whole number from 0 to 4611686018427387904, which may end in")
    blobs_npy()
    result = cleave("ncut", "x.npy", "-k", "auto", "--json", "-").json()
    check(result["options"]["k"] == result["k"] and len(result["k_table"]) == 11, f"{result['k']}")


@case
def a_range_without_clusters():
    draw = random.Random(1)
    write("one.csv", "a,b\n" + "".join(f"{draw.gauss(0, 1)},{draw.gauss(0, 1)}\n" for _ in range(400)))
    whole = cleave("ncut", "one.csv", "-k", "auto", "--json", "r.json", "--report", "r.html",
                   err="the clusters of no k from 2 to 12 hold on subsamples: .* try a range beyond 12, more --restarts, or another --affinity")
    result = json.loads(read("r.json"))
    check(result["k_reason"].endswith("the clusters of no k hold") and result["k_reason"] in whole.out, "the whole sentence")
    ran = cleave("ncut", "one.csv", "-k", "5:30", "--patience", 0, err="no k from 5 to 30")
    taken = int(re.search(r"k reason +k = (\d+) ", ran.out).group(1))
    rows = [int(row) for row in re.findall(r"^ {10,}(\d+)  ", ran.out, re.M)]
    check(taken in rows and len(rows) == 20 + (taken > 24), f"the row that was taken, {taken}: {rows}")
    check(f"and {26 - len(rows)} more" in ran.out, "what is left out is counted")
    for method, known in (("ncut", "objective gap percent eigengap silhouette stability spread seconds"),
                          ("kpalm", "objective silhouette stability spread seconds")):
        ran = whole if method == "ncut" else cleave(method, "one.csv", "-k", "auto", err="")
        head, *rows = re.search(r"^k table +(.*\n(?: {10,}\d+  .*\n)*)", ran.out, re.M).group(1).strip().split("\n")
        check(head.split() == known.split(), f"the columns that are known: {head}")
        check([int(row.split()[0]) for row in rows] == list(range(2, 13)), "a row for each k")
        check(max(map(len, ran.out.split("k table")[1].split("\nk reason")[0].split("\n"))) <= 100, "side by side")


@case
def a_sparse_home_is_for_near_pairs():
    blobs_npy()
    for more in ([], ["--affinity", "local"]):
        cleave("ncut", "x.npy", "-k", 2, "--home", "sparse", *more, code=64, err="which has all pairs: only --affinity knn and local-knn are limited to near pairs")
    cleave("ncut", "x.npy", "-k", 2, "--home", "sparse", "--affinity", "local-knn")


@case
def denormal_numbers_are_in_range():
    blobs_npy()
    for gamma in ("1e-308", "5e-324"):
        cleave("ncut", "x.npy", "-k", 2, "--affinity", "gaussian", "--gamma", gamma, "--json", "r.json", "-q", err="")
        check(json.loads(read("r.json"))["options"]["gamma"] == float(gamma), "as it was given")
        cleave("verify", "r.json", "x.npy", out="^accepted")
    for gamma in ("1e-400", "1e400"):
        cleave("ncut", "x.npy", "-k", 2, "--affinity", "gaussian", "--gamma", gamma, code=64, err="above 0 and up to 1e.300")


@case
def a_home_of_all_pairs_says_which_home_has_near_ones():
    blobs_npy()
    for home in ("dense-f64", "dense-f32"):
        cleave("ncut", "x.npy", "-k", 2, "--affinity", "knn", "--home", home, code=64, err=f"home = {home} cannot hold this knn affinity.*near pairs alone: use --home sparse")
    npy("a.npy", [[1.0, 0.5], [0.5, 1.0]])
    cleave("ncut", "a.npy", "-k", 2, "--affinity", "precomputed", "--home", "sparse", code=64, err="a dense matrix of doubles, which home dense-f64 holds")
    write("a.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 1\n")
    cleave("ncut", "a.mtx", "-k", 2, "--affinity", "precomputed", "--home", "dense-f64", code=64, err="a sparse matrix, which home sparse holds")


@case
def a_range_that_there_is_no_time_for():
    draw = random.Random(5)
    npy("b.npy", [[draw.gauss(9 * (i % 3 == f % 3), 1) for f in range(20)] for i in range(900)])
    for k, said in (("auto", "2 to 12"), ("3:5", "3 to 5")):
        ran = cleave("ncut", "b.npy", "-k", k, "--time-limit", 1e-4, "--json", "r.json",
                     err=f"no time to compare k from {said}: k = {said[0]} is the smallest of the range, and was not chosen")
        result = json.loads(read("r.json"))
        check(result["k"] == int(said[0]) and result["objective"]["value"] is None and "k_table" not in result, str(ran))
    npy("c.npy", [[draw.gauss(12 * (i % 3 == 1), 1), draw.gauss(12 * (i % 3 == 2), 1)] for i in range(300)])
    cleave("ncut", "c.npy", "-k", "2:12", "--memory", "600K", code=71,
           err="a range of k is judged on 6 subsamples of 150 of the 300 objects, .* allow more memory, or give one k")
    cleave("kpalm", "c.npy", "-k", "2:3", "--json", "r.json", err="^warning: k = 3 is the largest of the range, and there may be more "
           "clusters: try a range to 6$")
    cleave("kpalm", "c.npy", "-k", "2:5", "--json", "r.json")


@case
def a_range_of_k():
    points, truth = blobs_npy(centers=((0, 0), (12, 0), (0, 12)))
    for method in ("ncut", "symnmf", "kpalm"):
        result = cleave(method, "x.npy", "-k", "2:5", "--json", "r.json", "--report", "r.html", "-o", "l.npy", "-q")
        result = json.loads(read("r.json"))
        check([row["k"] for row in result["k_table"]] == [2, 3, 4, 5], "a row for each")
        check(result["k"] == 3 and same_partition(result["labels"], truth), result["k_reason"])
        row = result["k_table"][1]
        check(row["objective"] == result["objective"]["value"] and row["stability"] == 1, "its row")
        check(-1 <= row["silhouette"] <= 1 and (row["eigengap"] is not None) == (method == "ncut"), "what is known")
        cleave("verify", "r.json", "x.npy", out="^accepted")
        check("The number of clusters" in read("r.html").decode() and "k = 3" in read("r.html").decode(), "the page")
        one = cleave(method, "x.npy", "-k", 3, "--json", "-").json()
        check(one["objective"]["value"] >= result["objective"]["value"] * (1 - 1e-9), "not worse than a run on its own")
    cleave("ncut", "x.npy", "-k", "2:60", "--time-limit", 0.05, "--json", "r.json", err="the run ended at k = ")
    ran = cleave("ncut", "x.npy", "-k", "3:40", "--affinity", "gaussian", "--time-limit", 60)
    check(re.search(r"^k reason +k = 3 .*on subsamples: agreement 1.000, at least 0.967$", ran.out, re.M), "the whole sentence")
    ran = cleave("ncut", "x.npy", "-k", "2:5", "--json", "r.json", "--report", "r.html", "-v", err="affinity: local-knn, chosen on 60")
    result = json.loads(read("r.json"))
    reason = result["affinity"]["reason"]
    check(result["affinity"]["chosen_on"] == 60 and abs(result["affinity"]["agreement_local"]) <= 1, "how it was chosen")
    check(reason in ran.out and reason.replace("'", "&#39;") in read("r.html").decode(), "table and page say why")
    cleave("verify", "r.json", "x.npy", out="^accepted")
    for k in ("5:2", "0:3", "2:", ":3", "2:3:4", "a:b"):
        cleave("ncut", "x.npy", "-k", k, code=64, err="a range is LOW:HIGH")
    cleave("ncut", "x.npy", "-k", "2:99", code=65, err="k = 99 exceeds the 60 rows of x.npy")
    cleave("ncut", "x.npy", "-k", "2:3", "--start", "l.npy", code=64, err="a start is for one k")
    cleave("dominant", "x.npy", "-k", "2:3", code=64, err="--k '2:3' is not allowed")


@case
def bytes_in_either_case():
    blobs_npy()
    upper = cleave("ncut", "x.npy", "-k", 3, "--memory", "4M", "--json", "-").json()
    lower = cleave("ncut", "x.npy", "-k", 3, "--memory", "4m", "--json", "-").json()
    check(upper["options"]["memory"] == lower["options"]["memory"] == 4 << 20, f"{lower['options']}")
    cleave("ncut", "x.npy", "-k", 3, "--memory", "1k", code=71, err="1024")
    cleave("ncut", "x.npy", "-k", 3, "--memory", "1.5G", code=64, err="may end in K, M, G or T")


@case
def too_many_neighbors():
    blobs_npy(per=3)
    cleave("ncut", "x.npy", "-k", 3, "--affinity", "knn", code=64,
           err="neighbors = 15 is not less than the 9 objects; give --neighbors a smaller number")


@case
def forms_of_options_agree():
    blobs_npy()
    first = cleave("ncut", "x.npy", "-k", "3", "--seed", "2", "--json", "-").json()
    for form in (["-k3", "--seed=2"], ["--k", "3", "--seed", "2"], ["--k=3", "--seed=7", "--seed=2"],
                 ["--seed=2", "-qk3"], ["--seed=2", "-k3", "--zero-diagonal", "--keep-diagonal"]):
        again = cleave("ncut", *form, "--json=-", "--", "x.npy").json()
        check(again["labels"] == first["labels"] and again["options"] == first["options"], f"{form} differs")


@case
def two_dashes_end_the_options():
    cleave("ncut", "-k", 3, "--", "--odd.npy", code=66, err="--odd.npy")
    cleave("ncut", "-k", 3, "--odd.npy", code=64, err="no option --odd.npy")


@case
def a_message_is_one_line_whatever_it_names():
    cleave("ncut", "two\nlines.npy", "-k", 3, code=66, err=r"two\?lines\.npy")


@case
def the_last_of_a_repeated_option_wins():
    blobs_npy()
    check(cleave("ncut", "x.npy", "-k", 2, "-k", 3, "--json", "-").json()["k"] == 3, "k")


@case
def instruction_sets():
    blobs_npy()
    best = cleave("ncut", "x.npy", "-k", 3, "--json", "-", env=without_isa()).json()
    for name in ("baseline", ""):
        plain = cleave("ncut", "x.npy", "-k", 3, "--json", "-", env=without_isa(CLEAVE_ISA=name)).json()
        check(plain["labels"] == best["labels"], f"CLEAVE_ISA={name} finds other clusters")
        value, other = plain["objective"]["value"], best["objective"]["value"]
        check(abs(value - other) <= 1e-12 * abs(other), f"CLEAVE_ISA={name}: {value} and {other}")
    for name in ("nonsense", "Baseline", "baseline "):
        cleave("ncut", "x.npy", "-k", 3, code=64, env=without_isa(CLEAVE_ISA=name),
               err=rf"^cleave: CLEAVE_ISA={name}: this machine has baseline\b.*; unset it to use the best$")


def without_isa(**more):
    return {**{name: value for name, value in os.environ.items() if name != "CLEAVE_ISA"}, **more}


@case
def joining_others_is_0_or_1():
    blobs_npy()
    for value in ("foo", "2", "01"):
        cleave("ncut", "x.npy", "-k", 3, code=64, env={**os.environ, "CLEAVE_MPI": value},
               err=rf"^cleave: CLEAVE_MPI={value}: it must be 0 or 1$")
    for value in ("0", ""):
        cleave("ncut", "x.npy", "-k", 3, "-q", env={**os.environ, "CLEAVE_MPI": value})


def completers():
    """What bash, zsh and fish complete: functions of the words of a command line, the last one unfinished."""
    write("c.bash", cleave("completion", "bash").out)
    write("c.zsh", cleave("completion", "zsh").out)
    write("c.fish", cleave("completion", "fish").out)
    check(cleave("completion").out == cleave("completion", "bash").out, "bash unless another shell is named")

    def shell(name, script):
        run = subprocess.run([name, *(["-f"] if name == "zsh" else []), "-c", script], capture_output=True, text=True,
                             check=True, env={**os.environ, "HOME": os.getcwd()})
        check(run.stderr == "", f"{name} understands it: {run.stderr}")
        return run.stdout

    def bash(*words):
        line = " ".join(f"'{word}'" for word in words)
        return shell("bash", f". ./c.bash; COMP_WORDS=(cleave {line}); COMP_CWORD={len(words)}; _cleave; "
                             'echo "${COMPREPLY[@]}"').split()

    def fish(*words):
        said = shell("fish", f"source c.fish; complete -C 'cleave {' '.join(words)}'")
        return [line.split("\t")[0] for line in said.splitlines()]

    def zsh(*words):
        """What is handed to the functions of zsh that match and show it."""
        line = " ".join(f"'{word}'" for word in words)
        said = shell("zsh", "compdef() {}; compadd() { print -l -- $@ }; _describe() { print -l -- $commands }; "
                            "_arguments() { print -l -- $@ }; source ./c.zsh; "
                            f"words=(cleave {line}); CURRENT={len(words) + 1}; _cleave")
        found = []
        for spec in said.splitlines():
            values = re.search(r":NAME:\((.*)\)$", spec)
            name = re.match(r"[a-z]+(?=:)|--?[a-z0-9-]+", spec)
            if len(words) > 2 and values and words[-2] == name.group(0):
                return [value for value in values.group(1).split() if value.startswith(words[-1])]
            found += [name.group(0)] if name else []
        return [name for name in found if name.startswith(words[-1])]

    return {"bash": bash, "zsh": zsh, "fish": fish}


@case
def completion_knows_what_help_knows():
    names = re.findall(r"^  (\w+) ", cleave("--help").out.split("Commands\n")[1].split("\n\n")[0], re.M)
    listed = {name: re.findall(r"^  (?:-\w, |    )(--[a-z][a-z0-9-]*)", cleave(name, "--help").out, re.M) for name in names}
    for shell, complete in completers().items():
        check("ncut" in names and set(names) <= set(complete("")), f"{shell}: every command")
        check(complete("nc") == ["ncut"], f"{shell}: one of them")
        for name in names:
            check(listed[name] and set(listed[name]) <= set(complete(name, "--")), f"{shell}: every option of {name}")
        check({"iris", "moons", "documents"} <= set(complete("demo", "")) or shell == "zsh", f"{shell}: the runs of the demo")
        check(set(complete("ncut", "--solver", "f")) == {"fpc", "finc", "fcd", "finc-at-once"}, f"{shell}: values")
    bash = completers()["bash"]
    check(bash("ncut", "--report", "") == bash("ncut", "-o", "") == [], "bash completes files by itself")
    runs = [line.split()[0] for line in cleave("demo", "--list").out.splitlines()]
    check([word for word in bash("demo", "") if not word.startswith("-")] == runs, "every run, and no other")
    check(f"'1:NAME:({' '.join(runs)})'" in cleave("completion", "zsh").out, "in zsh as well")
    cleave("completion", "tcsh", code=64, err="bash, zsh or fish, not 'tcsh'")


@case
def manual_pages_say_what_help_says():
    names = cleave("man", "--list").out.split()
    check({"ncut", "verify", "help", "man", "completion"} <= set(names), "a page for every command")
    for name in [None, *names]:
        page = cleave("man", *([name] if name else [])).out
        write("page.1", page)
        lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", "page.1"], capture_output=True, text=True, check=False)
        check(lint.returncode == 0 and not lint.stdout, f"cleave man {name}: {lint.stdout}")
        shown = subprocess.run(["mandoc", "-T", "ascii", "-O", "width=1000", "page.1"], capture_output=True, text=True,
                               check=True).stdout
        shown = " ".join(re.sub(".\b", "", shown).split())
        if name:
            for option in re.findall(r"^  (?:-\w, |    )(--[a-z][a-z0-9-]*)(?: \S+)?  +(\S.*)", cleave(name, "--help").out, re.M):
                check(option[0] in shown and option[1].strip() in shown, f"cleave man {name}: {option}")
    cleave("man", "nothing", code=64, err="not 'nothing'")


@case
def tolerances_that_prove_nothing():
    blobs_npy()
    for method in ("kpalm", "symnmf", "ncut", "dominant"):
        cleave(method, "x.npy", "-k", 3, "--tol", 1e308, code=64, err="--tol.*1e\\+?06|--tol.*1000000")


@case
def what_verify_says_of_a_stranger_is_one_line():
    """Made-up members of tables and matrices are refused, and what a result says never reaches the terminal as it is."""
    blobs_npy()
    cleave("dominant", "x.npy", "-k", 2, "--json", "r.json", "-q")
    for name in ("clusters", "membership"):
        result = json.loads(read("r.json"))
        (result[name][0] if name == "clusters" else result[name])["proved\x1b[31m\n"] = True
        write("false.json", json.dumps(result))
        cleave("verify", "false.json", "x.npy", code=1, out=rf"^rejected: {name} has a member proved\?\[31m\?, but dominant gives no such one\n$")
    write("y.csv", "1,ant\n" * 30 + "2,bee\n" * 30)
    cleave("verify", "r.json", "x.npy", "y.csv", code=64, err="to verify a result of dominant, give one file of data")


@case
def a_rho_that_is_lost_is_told_of():
    npy("x.npy", [[1e9, 1e9]] * 5)
    cleave("pursuit", "x.npy", "-k", 2, "--solver", "admm", "--rho", 0.1, code=65, err="the rho of admm is lost beside the squares of the points")


@case
def verify_refuses_what_has_no_place():
    """Fields of labels in results without labels, similarities of methods that look at none, options that nobody has."""
    blobs_npy()
    write("y.csv", "".join(f"{i % 2}\n" for i in range(60)))
    cleave("ksupport", "x.npy", "y.csv", "-k", 1, "--json", "sparse.json", "-q")
    cleave("kpalm", "x.npy", "-k", 3, "--json", "kpalm.json", "-q")
    cleave("kpalm", "x.npy", "-k", "2:4", "--json", "range.json", "-q")

    def rejected(name, change, reason):
        result = json.loads(read(f"{name}.json"))
        change(result)
        write("false.json", json.dumps(result))
        data = ["x.npy", "y.csv"] if name == "sparse" else ["x.npy"]
        cleave("verify", f"{name}.json", *data, out="^accepted")
        cleave("verify", "false.json", *data, code=1, out="^rejected: .*" + reason)

    for field, value in (("sizes", []), ("left_out", True), ("metrics", {"ari": 1}), ("terms", [["a"]]), ("affinity", {})):
        rejected("sparse", lambda r: r.update({field: value}), f"the field {field} is claimed, but ksupport gives no such field")
    rejected("kpalm", lambda r: r.update(affinity={}), "the field affinity is claimed, but kpalm gives no such field")
    for option in ("proved: global optimum", "lambda", ""):
        rejected("kpalm", lambda r: r["options"].update({option: None}), f'an option "{option}" is claimed, which kpalm does not have')
    for column, value in (("objective", -1), ("gap_percent", 0), ("eigengap", 1), ("spread", 1.5)):
        rejected("range", lambda r: r["k_table"][0].update({column: value}), f"row 1 of k_table is none that a run can have: {column}")
    result = json.loads(read("range.json"))
    result["k_table"][0].update(spread=1.06)  # of two agreements, 1 and -1/2
    write("true.json", json.dumps(result))
    cleave("verify", "true.json", "x.npy", out="^accepted")
