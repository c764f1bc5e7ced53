"""Questions about motions that the command answers: the answer is its JSON."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional

from ._errors import ModelError
from ._numbers import number

if TYPE_CHECKING:
    from ._model import Model


def words(options: Mapping[str, Any]) -> List[str]:
    """Keyword arguments as options of the command: ``max_impacts=3`` is ``--max-impacts 3``."""
    found: List[str] = []
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            found.append(option)
        elif isinstance(value, Mapping):
            found += [f"{option}={k}={v if isinstance(v, str) else repr(number(v, str(k)))}" for k, v in value.items()]
        elif isinstance(value, (list, tuple)):
            found += [f"{option}={v if isinstance(v, str) else repr(number(v, name))}" for v in value]
        elif isinstance(value, str):
            found.append(f"{option}={value}")
        else:
            found.append(f"{option}={number(value, name)!r}")
    return found


def ask(model: "Model", command: str, options: List[str], parameters: Optional[Mapping[str, Any]], start: Optional[Mapping[str, Any]]) -> Dict[str, Any]:
    """Runs a command on a model, in a process of its own: Ctrl-C ends it, and it holds no lock."""
    with tempfile.TemporaryDirectory(prefix="carom-") as folder:
        file = Path(folder) / "model.toml"
        file.write_text(model.text, encoding="utf-8")
        for name, text in model._native.tables:
            (Path(folder) / Path(name).name).write_text(text, encoding="utf-8")
        changes = [f"--set={k}={number(v, k)!r}" for k, v in (parameters or {}).items()]
        changes += [f"--start={k}={number(v, k)!r}" for k, v in (start or {}).items()]
        line = [sys.executable, "-m", "carom", command, str(file), *changes, *options, "--json", "--quiet"]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 2) or not done.stdout.strip():
        raise ModelError(done.stderr.replace(str(file), "model.toml").strip() or f"carom {command} ended with {done.returncode}")
    answer: Dict[str, Any] = json.loads(done.stdout)
    return answer
