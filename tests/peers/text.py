"""tf-idf, truncated SVD and PCA against scikit-learn: a made-up corpus in several scripts, and the newsgroups if there."""
import gzip
import json
import os
import random
import subprocess

import numpy as np
import scipy.io
from scipy.linalg import subspace_angles
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def word_of(rng):
    """A word of some script, in any case, now and then with a mark or a digit in it."""
    alphabet = rng.choice(["abcdefghijklmnopqrstuvwxyz", "äöüßéèçñøåœ", "абвгдежзиклмн", "αβγδεζηθικλμνξοπρστυφχψω",
                           "日本語中文字", "ابتثجح", "०१२३", "ÀÉȺĲŁŽ"])
    word = "".join(rng.choice(alphabet) for _ in range(rng.randint(1, 5)))
    word = rng.choice([word, word.upper(), word.capitalize(), word + rng.choice(["_", "7", "\u0301", "²", "’s"])])
    return word


def documents():
    rng = random.Random(5)
    words = [word_of(rng) for _ in range(400)]
    count = lambda: int(400 * rng.random() ** 3)
    return [rng.choice(["", "\n", "\ufeff"]) + rng.choice([" ", ", ", "-"]).join(words[count()] for _ in range(rng.randint(0, 60)))
            for _ in range(250)]


def every_character():
    """Words around each letter of Unicode; the final sigma is left to the words above."""
    return ["x" + chr(c) + "y" + " z" + chr(c) for c in range(0x80, 0x110000)
            if not 0xd800 <= c < 0xe000 and chr(c) not in "\u03a3" and chr(c).isprintable()]


def save(texts, path="corpus.jsonl"):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps({"text": text}, ensure_ascii=len(text) % 2 == 0) + "\n" for text in texts)
    return path


def newsgroups():
    path = os.path.join(os.environ.get("CLEAVE_DATA", os.path.join(ROOT, "../shared/data")), "newsgroups-test.jsonl.gz")
    if not os.path.exists(path):
        return None, None
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return path, [json.loads(line)["text"] for line in file]


def angle(a, b):
    return float(np.degrees(subspace_angles(a, b)[0]))


def checks(cleave):
    def run(path, *options):
        subprocess.run([cleave, "text", path, "--vocab", "v.txt", "-q", *map(str, options)], check=True)
        with open("v.txt", encoding="utf-8") as file:
            return file.read().split("\n")[:-1]

    def compare(path, texts, options, settings):
        """Terms and weights; the peer's matrix."""
        terms = run(path, "--tfidf", "t.mtx", *options)
        peer = TfidfVectorizer(**settings)
        expected = peer.fit_transform(texts)
        assert terms == sorted(peer.vocabulary_, key=peer.vocabulary_.get), f"{options}: other terms"
        worst = abs(scipy.io.mmread("t.mtx").tocsr() - expected).max()
        assert worst < 1e-13, f"{options}: weights off by {worst}"
        return expected

    def terms_and_weights():
        texts = documents()
        save(texts)
        for options, settings in (((), {}), (("--min-df", 3), {"min_df": 3}), (("--max-df", 0.2), {"max_df": 0.2}),
                                  (("--ngrams", "1-3", "--min-df", 2), {"ngram_range": (1, 3), "min_df": 2}),
                                  (("--min-df", 0.02, "--max-df", 30), {"min_df": 0.02, "max_df": 30})):
            shape = compare("corpus.jsonl", texts, options, settings).shape
        return f"{shape[0]} documents, {shape[1]} terms"

    def letters_of_unicode():
        texts = every_character()
        terms = run(save(texts), "--tfidf", "t.mtx")
        peer = TfidfVectorizer()
        peer.fit(texts)
        lacking = set(peer.vocabulary_) ^ set(terms)
        # Unicode of this Python may be newer or older than that of scripts/unicode.
        assert len(lacking) < 0.02 * len(terms), f"{len(lacking)} of {len(terms)} terms differ: {sorted(lacking)[:5]}"
        return f"{len(terms)} terms, {len(lacking)} differ"

    def svd_and_pca():
        texts = documents()
        path = save(texts)
        matrix = compare(path, texts, (), {})
        run(path, "-o", "x.npy", "--dims", 6)
        run(path, "-o", "c.npy", "--dims", 6, "--center")
        svd = TruncatedSVD(6, algorithm="arpack").fit_transform(matrix)
        pca = PCA(6, svd_solver="full").fit_transform(matrix.toarray())
        angles = angle(np.load("x.npy"), svd), angle(np.load("c.npy"), pca)
        assert max(angles) < 1e-3, f"angles {angles}"
        assert abs(abs(np.load("x.npy")) - abs(svd)).max() < 1e-6, "coordinates"
        return "angles %.1e and %.1e degrees" % angles

    def newsgroups_as_scikit_learn():
        path, texts = newsgroups()
        if path is None:
            return "skipped: the newsgroups are not there (CLEAVE_DATA names the folder)"
        matrix = compare(path, texts, (), {})
        compare(path, texts, ("--min-df", 2, "--max-df", 0.5), {"min_df": 2, "max_df": 0.5})
        run(path, "-o", "x.npy")
        found = angle(np.load("x.npy"), TruncatedSVD(20, algorithm="arpack").fit_transform(matrix))
        assert found < 1e-3, f"angle {found} degrees"
        return f"{matrix.shape[1]} terms, angle {found:.1e} degrees to scikit-learn's SVD by ARPACK"

    return terms_and_weights, letters_of_unicode, svd_and_pca, newsgroups_as_scikit_learn
