"""A plugin that is missing, or is not what its name says: one sentence, also where a run of several processes needs it."""
import os
import sys

import harness
from harness import blobs_npy, case, cleave, read, write


def refused(plugin, err):
    """By the run that asks for it."""
    around = {**os.environ, "CLEAVE_PLUGINS": os.getcwd(), "CLEAVE_MPI": "1" if plugin == "mpi" else "0"}
    home = ["--home", "cuda"] if plugin == "cuda" else []
    cleave("ncut", "x.npy", "-k", 3, "--affinity", "gaussian", *home, code=64, err=err, env=around)


@case
def what_is_no_plugin():
    blobs_npy()
    program = read(sys.executable)  # of the same kind of file
    for plugin in ("cuda", "mpi"):
        name = f"libcleave_{plugin}.so"
        os.mkdir(name)
        refused(plugin, "cannot be opened")
        os.rmdir(name)
        os.mkfifo(name)  # which nobody writes to
        refused(plugin, f"{name} is cut off, or no file: ")
        os.remove(name)
        for text in ("", "no library\n", "\x7fELF", "\x7fELF" + 200 * "\1"):
            write(name, text)
            refused(plugin, "cannot be opened|is cut off")
        for size in (64, 700, 4096, len(program) // 2, len(program) - 1):
            with open(name, "wb") as file:
                file.write(program[:size])
            refused(plugin, f"{name} is cut off, or no file: install it again, or ")
        with open(name, "wb") as file:
            file.write(program)
        refused(plugin, "cannot be opened")
        os.chmod(name, 0)
        refused(plugin, "cannot be opened|is not installed")
        os.remove(name)


@case
def verify_on_a_card():
    """Within the budget there; by the plugin that stands in for a card."""
    folder = os.path.join(os.path.dirname(harness.CLEAVE), "tests", "plugin")
    if not os.path.exists(os.path.join(folder, "libcleave_cuda.so")):
        raise harness.Skip("the plugin of the unit tests was not built")
    around = {**os.environ, "CLEAVE_PLUGINS": folder}
    blobs_npy()
    cleave("ncut", "x.npy", "-k", 3, "--affinity", "gaussian", "--json", "r.json", "-q")
    for memory, code, said in (("64", 71, {"err": "too little memory.*--device-memory"}), ("auto", 0, {"out": "^accepted"}), ("1G", 0, {"out": "^accepted"})):
        cleave("verify", "r.json", "x.npy", "--home", "cuda", "--device-memory", memory, "--bound", "no", code=code, env=around, **said)
