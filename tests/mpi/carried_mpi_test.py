"""What carry-openmpi copies starts ranks by itself, without the machine's MPI; and run-ranks takes it where there is no other."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("--tree", type=Path, required=True)
parser.add_argument("--build", type=Path, required=True)
options = parser.parse_args()
program = options.build / "apps/areal-mpi/areal-mpi"
TOOLS = ("cat", "dirname", "env", "grep", "ldd", "ls", "sh", "bash")  # what run-ranks calls


def main(folder):
    carried, scripts, tools, loaded = (folder / name for name in ("openmpi", "bin", "tools", "loaded"))
    for made in (scripts, tools, loaded):
        made.mkdir()
    subprocess.run([options.tree / "tests/mpi/carry-openmpi", carried], check=True)
    shutil.copy(options.tree / "tests/mpi/run-ranks", scripts)
    for tool in TOOLS:
        (tools / tool).symlink_to(shutil.which(tool))

    def run(path, **more):
        words = [scripts / "run-ranks", "2", program, "query", "synthetic:300x100:9", "--region", "0,0,300,100"]
        return subprocess.run(words, env={"PATH": str(path), **more}, capture_output=True, text=True, timeout=60)

    def parts_of_mpi():
        found = set()
        for file in loaded.iterdir():
            found |= {line.split("calling init: ")[1] for line in file.read_text().splitlines() if "calling init: " in line}
            file.unlink()
        return {os.path.realpath(name) for name in found if "mpi" in name or "mca_" in name or "open-" in name or "pmix" in name}

    debug = {"LD_DEBUG": "libs", "LD_DEBUG_OUTPUT": str(loaded / "of")}
    with_system = run(os.environ["PATH"], **debug)
    system = {name for name in parts_of_mpi() if "areal" not in name}
    without = run(tools, **debug)
    here = {name for name in parts_of_mpi() if "areal" not in name}
    assert with_system.returncode == 0 and without.returncode == 0, without.stderr
    assert without.stdout == with_system.stdout and without.stdout.count("\n") == 2, without.stdout
    assert without.stderr == "", without.stderr
    assert any(name.endswith("mca_pml_ob1.so") for name in here), sorted(here)
    # PMIx looks where it was built for parts that it can do without.
    strangers = {name for name in here if not name.startswith(os.path.realpath(carried)) and "/pmix_mca_" not in name}
    assert not strangers, sorted(strangers)
    assert system and not any(name.startswith(os.path.realpath(carried)) for name in system), sorted(system)  # the check can fail

    refused = run(tools, AREAL_MPIRUN=shutil.which("true"))
    assert refused.returncode == 1 and "is no Open MPI that can start" in refused.stderr, refused.stderr
    shutil.rmtree(carried)
    refused = run(tools)
    assert refused.returncode == 1 and refused.stderr == f"run-ranks: no Open MPI here that can start {program}\n", refused.stderr


if __name__ == "__main__":
    if not program.exists():
        sys.exit(f"{program}: is not built")
    with tempfile.TemporaryDirectory() as scratch:
        main(Path(scratch))
