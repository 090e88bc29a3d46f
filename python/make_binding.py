"""Write cleave/_binding.py: what cffi has to know of include/cleave.h, so that nothing is parsed when cleave is imported.

    make_binding.py HEADER OUTPUT
"""
import pathlib
import re
import sys

import cffi


def declarations(header: str) -> str:
    """The header without comments, directives, functions with a body, and what only a C compiler needs."""
    text = re.sub(r"/\*.*?\*/", " ", header, flags=re.S)
    text = re.sub(r"^[ \t]*#(?:.*\\\n)*.*\n", "\n", text, flags=re.M)
    text = re.sub(r'extern "C" \{', "", text)
    text = re.sub(r"static inline [^{;]*\{.*?\n\}", "", text, flags=re.S)
    text = re.sub(r"^CLV_METHOD_FUNCTIONS\(\w+\)$", "", text, flags=re.M)
    text = text.replace("CLV_API ", "")
    return re.sub(r"^\}\s*\Z", "", text.rstrip(), flags=re.M)


def main() -> None:
    header, output = map(pathlib.Path, sys.argv[1:])
    text = declarations(header.read_text())
    if text.endswith("}"):  # of extern "C"
        text = text[:-1]
    ffi = cffi.FFI()
    ffi.cdef(text)
    ffi.set_source("cleave._binding", None)
    output.parent.mkdir(parents=True, exist_ok=True)
    ffi.emit_python_code(str(output))


if __name__ == "__main__":
    main()
