"""Reading and writing .npy files of version 1.0 with the standard library: numbers as array.array, and their shape."""

import ast
import array
import struct

MAGIC = b"\x93NUMPY\x01\x00"
CODES = {"<f8": "d", "<f4": "f", "<i4": "i", "<i8": "q", "|u1": "B"}


def read(path):
    """(values, shape) of a C-ordered, little-endian file."""
    with open(path, "rb") as file:
        if file.read(8) != MAGIC:
            raise ValueError(f"{path} is not a .npy file of version 1.0")
        (length,) = struct.unpack("<H", file.read(2))
        header = ast.literal_eval(file.read(length).decode("latin-1"))
        if header["fortran_order"] or header["descr"] not in CODES:
            raise ValueError(f"{path} holds {header}, which is not read here")
        values = array.array(CODES[header["descr"]])
        values.frombytes(file.read())
    return values, header["shape"]


def rows(path):
    """The rows of a matrix, as lists."""
    values, (height, width) = read(path)
    return [list(values[i * width:(i + 1) * width]) for i in range(height)]


def write(path, descr, shape, parts):
    """Write numbers that come as arrays of the type `descr`."""
    header = repr({"descr": descr, "fortran_order": False, "shape": shape})
    padded = header + " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(MAGIC + struct.pack("<H", len(padded)) + padded.encode("latin-1"))
        for part in parts:
            array.array(CODES[descr], part).tofile(file)


def write_rows(path, matrix):
    """Write a list of rows as double."""
    write(path, "<f8", (len(matrix), len(matrix[0])), matrix)


def write_labels(path, labels):
    """Write a list of integers."""
    write(path, "<i4", (len(labels),), [labels])
