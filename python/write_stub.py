"""write_stub.py FOLDER OUTPUT.pyi: the type stub of the module areal._core, which is in FOLDER/areal.

nanobind writes it of what the module says. An object or a list of which that does not say more is one of anything.
"""

import pathlib
import re
import subprocess
import sys

folder, output = sys.argv[1:]
subprocess.run([sys.executable, "-m", "nanobind.stubgen", "-q", "--include-private", "-i", folder, "-m", "areal._core", "-o", output], check=True)
path = pathlib.Path(output)
text = path.read_text()
text = re.sub(r"(: |-> )object\b", r"\1Any", text)
text = re.sub(r"(: |-> )(list|tuple|dict)(?=[:,) ])", lambda found: found.group(1) + {"list": "list[Any]", "tuple": "tuple[Any, ...]", "dict": "dict[Any, Any]"}[found.group(2)], text)
text = text.replace("def __call__(self, /, *args, **kwargs):", "def __call__(self, /, *args: Any, **kwargs: Any) -> Any:")
if not re.search(r"^from typing import .*\bAny\b", text, re.M):
    text = "from typing import Any\n" + text
path.write_text(text)
