"""Small files of the names that commands in the documentation have."""
import gzip
import json
import os
import random
import struct
import subprocess

WORDS = {"bread": "flour dough oven yeast crust bake".split(), "bikes": "wheel chain brake tire pedal gear".split(),
         "stars": "planet orbit comet galaxy lens moon".split()}


def npy(path, rows, kind="<f8"):
    columns = len(rows[0]) if isinstance(rows[0], list) else 0
    flat = [value for row in rows for value in row] if columns else rows
    shape = (len(rows), columns) if columns else (len(rows),)
    header = str({"descr": kind, "fortran_order": False, "shape": shape}).ljust(117) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(flat)}{'d' if kind == '<f8' else 'i'}", *flat))


def cloud(draw, count, columns, groups=10):
    return [[draw.gauss(5 * ((i % groups) >> j & 1), 0.5) for j in range(columns)] for i in range(count)]


def documents(draw, count):
    for i in range(count):
        topic = list(WORDS)[i % len(WORDS)]
        yield json.dumps({"id": f"d{i}", "label": topic, "text": " ".join(draw.choices(WORDS[topic], k=12))}) + "\n"


def make(program, folder):
    draw = random.Random(1)
    at = lambda name: os.path.join(folder, name)
    points = cloud(draw, 300, 4)
    npy(at("points.npy"), points)
    with open(at("points.csv"), "w") as file:
        file.write("a,b,c,d\n" + "".join(",".join(f"{v:.4f}" for v in row) + "\n" for row in points))
    npy(at("centers.npy"), points[:100])
    npy(at("digits.npy"), cloud(draw, 80, 6))
    npy(at("y.npy"), [i % 2 for i in range(80)], "<i4")
    npy(at("X.npy"), cloud(draw, 80, 220, 2))
    npy(at("V.npy"), cloud(draw, 40, 220, 2))
    npy(at("v.npy"), [i % 2 for i in range(40)], "<i4")
    with open(at("houses.csv"), "w") as file:
        file.write("area,rooms,age,garden,floor,price\n")
        for _ in range(60):
            row = [draw.uniform(1, 9) for _ in range(5)]
            file.write(",".join(f"{v:.3f}" for v in [*row, 3 * row[0] + row[1] - row[2]]) + "\n")
    with gzip.open(at("posts.jsonl.gz"), "wt") as file:
        file.writelines(documents(draw, 90))
    with open(at("new.jsonl"), "w") as file:
        file.writelines(documents(draw, 9))
    for i, name in enumerate(("a.json", "b.json", "c.json", "c.csv", "run-1.npy", "run-2.npy", "run-3.npy")):
        option = "--json" if name.endswith("json") else "-o"
        subprocess.run([program, "kpalm", at("points.csv"), "-k", str(3 + 2 * i), option, at(name), "-q"], check=True)
    subprocess.run([program, "demo", "picture", "--report", at("demo.html")], check=True, capture_output=True)
    os.rename(at("demo/picture.png"), at("photo.png"))
