"""text and segment: documents to points against scikit-learn, pictures to segments against scikit-image."""

import gzip
import json
import os

import numpy as np

from harness import DATA, Row

WIDTH, HEIGHT = 481, 321


# --- text ---


def posts(count):
    """So many posts of the newsgroups, or words drawn by Zipf's law."""
    path = os.path.join(DATA, "newsgroups-test.jsonl.gz")
    rng = np.random.default_rng(1)
    if os.path.exists(path):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            texts = [json.loads(line)["text"] for line in lines]
        texts = [texts[i] for i in rng.permutation(len(texts))[:count]]
    else:
        words = np.minimum(rng.zipf(1.3, size=(count, 200)), 120000)
        texts = [" ".join(f"w{rank}" for rank in document) for document in words]
    with gzip.open("posts.jsonl.gz", "wt", compresslevel=6, encoding="utf-8") as file:
        file.writelines(json.dumps({"text": text}) + "\n" for text in texts)


def sklearn_text(data):
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    yield
    with gzip.open("posts.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    yield TruncatedSVD(20, random_state=0).fit_transform(TfidfVectorizer().fit_transform(texts))


# --- segment ---


def stretched(plane, width):
    """Nearest pixels."""
    height = width * plane.shape[0] // plane.shape[1]
    return plane[np.ix_(np.arange(height) * plane.shape[0] // height, np.arange(width) * plane.shape[1] // width)]


def picture(width):
    """One of Berkeley's with what people drew, or discs, in this width."""
    path = os.path.join(DATA, "images/bsds-3063.X.npy")
    if os.path.exists(path):
        image, people = np.load(path), np.load(path.replace(".X.", ".seg."))
    else:
        y, x = np.mgrid[:HEIGHT, :WIDTH]
        discs = sum(((x - 100 * i) ** 2 + (y - 60 * i) ** 2 < 50**2) * i for i in range(1, 5))
        noise = np.random.default_rng(1).integers(0, 20, (HEIGHT, WIDTH, 3))
        image, people = (np.stack([40 * discs, x // 8, y // 8], axis=-1) + noise).astype(np.uint8), discs[None]
    np.save("image.npy", stretched(image, width))
    np.save("people.npy", np.stack([stretched(one, width) for one in people]))


def skimage_cut(data):
    from skimage import graph
    from skimage.segmentation import slic
    image = data["image"]
    yield
    pieces = slic(image, compactness=30, n_segments=400, start_label=1)
    yield graph.cut_normalized(pieces, graph.rag_mean_color(image, pieces, mode="similarity"))


def agreement(data, answer):
    """Mean adjusted Rand index with what people drew."""
    from sklearn.metrics import adjusted_rand_score
    return np.mean([adjusted_rand_score(one.ravel(), answer.ravel()) for one in data["people"]])


def segment(method):
    return Row(f"segment-{method}", f"a picture into segments by {method}", (WIDTH // 2, WIDTH, 2 * WIDTH), picture,
               lambda width: ["segment", "image.npy", "--method", method, "-o", "labels.png", "--labels-out", "ours.npy"],
               ("total",), {"scikit-image slic, cut_normalized": skimage_cut}, agreement, "max", 0.05, "pixels across",
               "mean ARI with people", threads=2 * WIDTH * (method == "ncut"),
               shared="Threads share the colors, the textures, the assignment of pixels to superpixels and the kicks of the cut, seven tenths of "
               "the time; pixels are joined to regions and their borders listed by one.")


ROWS = [
    Row("text", "documents to 20 columns, reading included", (1000, 3000, 7500), posts,
        lambda count: ["text", "posts.jsonl.gz", "-o", "ours.npy"], ("total",), {"TfidfVectorizer, TruncatedSVD": sklearn_text},
        lambda data, answer: (answer**2).sum(), "max", 0.01, "documents", "sum of squares", threads=7500,
        shared="Inflating the file and parsing its JSON is one thread's work, and what takes longest; words are counted beside it."),
    *(segment(method) for method in ("dominant", "ncut")),
]
