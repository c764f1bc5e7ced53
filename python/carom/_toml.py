"""Keyword arguments as the text of a model file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from . import _sympy
from ._errors import ModelError
from ._numbers import check_size, number, numbers, short, text

# Entries of a list, or characters of a formula, in a model file.
_MOST_WRITTEN = 1_000_000
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def name(value: Any, what: str) -> str:
    """A name: text, or a symbol of SymPy."""
    return _sympy.name_of(value) if _sympy.is_sympy(value) else text(value, what)


def names(values: Any, what: str) -> List[str]:
    """A list of names: a list, a tuple, an array or a vector of SymPy."""
    vector = _sympy.is_sympy(values) and 1 in getattr(values, "shape", ())
    if not vector and not isinstance(values, (list, tuple)) and not (isinstance(values, np.ndarray) and values.ndim == 1):
        raise ModelError(f"`{what}` must be a list of names, not {short(values)}")
    check_size(values, what, _MOST_WRITTEN)
    return [name(value, what) for value in values]


def formula(value: Any, what: str) -> str:
    """A formula as it stands in a model file: text, a number or a SymPy expression."""
    if _sympy.is_sympy(value):
        return string(_sympy.formula(value))
    if isinstance(value, str):
        return string(text(value, what))
    return repr(number(value, what))


def string(value: str) -> str:
    """A TOML string; lines stay lines, so that mistakes in them are found where they are."""
    lines = value.replace("\r\n", "\n").split("\n")
    written = ["\t".join(_quoted(part)[1:-1] for part in line.split("\t")) for line in lines]
    return f'"{written[0]}"' if len(written) == 1 else '"""\n' + "\n".join(written) + '"""'


def _quoted(value: str) -> str:
    """On one line."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def key(value: str) -> str:
    """A TOML key."""
    return value if _BARE.fullmatch(value) else _quoted(value)


def value_of(value: Any, what: str) -> str:
    """Any value of a table: formulas, truth values, lists, inline tables."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        inside = ", ".join(f"{key(name(k, what))} = {value_of(v, f'{what}.{k}')}" for k, v in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    # A matrix of one entry is that entry, such as the velocity squared: `v.T*v`.
    if _sympy.is_sympy(value) and getattr(value, "shape", (1, 1)) != (1, 1):
        return "[" + ", ".join(string(entry) for entry in _sympy.entries(value)) + "]"
    check_size(value, what, _MOST_WRITTEN)
    if isinstance(value, np.ndarray) and value.ndim > 0:
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(value_of(v, what) for v in value) + "]"
    return formula(value, what)


def mapping(value: Any, what: str) -> Dict[str, Any]:
    """A dictionary with names as keys."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ModelError(f"`{what}` must be a dictionary of names, not {type(value).__name__}")
    return {name(k, what): v for k, v in value.items()}


def table(title: str, entries: Dict[str, Any]) -> List[str]:
    """A table of a model file; nothing when it is empty."""
    if not entries:
        return []
    return ["", f"[{title}]"] + [f"{key(k)} = {value_of(v, f'{title}.{k}')}" for k, v in entries.items()]


def inputs(given: Dict[str, Any]) -> Tuple[Dict[str, Any], List[Tuple[str, str]]]:
    """Inputs as formulas, and pairs of arrays (times, values) as tables."""
    entries: Dict[str, Any] = {}
    tables: List[Tuple[str, str]] = []
    for label, value in given.items():
        if isinstance(value, tuple) and len(value) == 2:
            times, values = (numbers(v, label) for v in value)
            if len(times) != len(values):
                raise ModelError(f"input `{label}`: {len(times)} times and {len(values)} values")
            rows = "".join(f"{t!r},{u!r}\n" for t, u in zip(times, values))
            tables.append((f"{label}.csv", f"t,{label}\n{rows}"))
            entries[label] = {"file": f"{label}.csv", "column": label}
        else:
            entries[label] = value
    return entries, tables


def start(given: Dict[str, Any], momenta: Optional[List[str]]) -> List[str]:
    """Start values sorted into positions, velocities and momenta."""
    sorted_by: Dict[str, Dict[str, Any]] = {"position": {}, "velocity": {}, "momentum": {}}
    for label, value in given.items():
        if label in sorted_by and isinstance(value, Mapping):
            sorted_by[label].update({name(k, "start"): v for k, v in value.items()})
        elif label == "project":
            sorted_by.setdefault("project", value)
        elif label[-1:] in ("'", "′", "’"):
            sorted_by["velocity"][label[:-1]] = value
        elif label in (momenta or []):
            sorted_by["momentum"][label] = value
        else:
            sorted_by["position"][label] = value
    return table("start", {k: v for k, v in sorted_by.items() if not isinstance(v, Mapping) or v})
