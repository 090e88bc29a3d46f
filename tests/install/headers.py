#!/usr/bin/env python3
"""The header of another version of the library, made from that of this one.

    headers.py older-N|newer IN OUT

older-N: structs of options lack their last N members, as if those had been added since. newer: they have one more, which
this library does not know."""
import re
import sys

STRUCTS = ("clv_ncut_options", "clv_affinity_options", "clv_kpalm_options")


def members(body):
    """Where the declarations of a struct are: (begin, end) of each, its comment included."""
    found = re.finditer(r"^    [\w *]+\b\w+(?:\[\d+\])?;(?:[ \t]*/\*.*?\*/)?[ \t]*\n", body, re.M | re.S)
    return [match.span() for match in found]


def change(text, name, way):
    start = text.index(f"typedef struct {name} {{") + len(f"typedef struct {name} {{\n")
    end = text.index(f"}} {name};", start)
    body = text[start:end]
    if way == "newer":
        body += "    int64_t unknown; /* to a library of before */\n"
    else:
        count = int(way.split("-")[1])
        first, last = members(body)[-count][0], members(body)[-1][1]
        assert not body[last:].strip(), f"{name}: something follows its last member: {body[last:]!r}"
        body = body[:first]
    return text[:start] + body + text[end:]


def main():
    way, source, target = sys.argv[1:]
    with open(source) as file:
        text = file.read()
    for name in STRUCTS:
        text = change(text, name, way)
    with open(target, "w") as file:
        file.write(text)


main()
