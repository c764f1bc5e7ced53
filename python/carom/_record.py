"""Results with names: entries of a dictionary that can be read as attributes."""

from __future__ import annotations

from typing import Any, Dict, List

import numpy as np


class Record(Dict[str, Any]):
    """A dictionary whose entries are attributes too; it pickles, and numbers in it are NumPy arrays."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no {name!r}: there is {', '.join(self)}") from None

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *self]

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={_short(value)}" for name, value in self.items())
        return f"{type(self).__name__}({inside})"


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.size > 12:
        return f"<array of shape {value.shape}>"
    text = repr(value)
    return text if len(text) <= 200 else text[:197] + "..."


def arrays(value: Any) -> Any:
    """Lists of numbers as arrays, whatever they are part of; what is missing among numbers is ``nan``."""
    if isinstance(value, dict):
        return {name: arrays(inner) for name, inner in value.items()}
    if not isinstance(value, list):
        return value
    if value and all(x is None or (isinstance(x, (int, float)) and not isinstance(x, bool)) for x in value):
        return np.array([np.nan if x is None else x for x in value], dtype=np.float64)
    inner = [arrays(x) for x in value]
    if inner and all(isinstance(x, np.ndarray) and x.shape == inner[0].shape for x in inner):
        return np.array(inner)
    return inner


def complexes(pairs: Any) -> Any:
    """Real and imaginary parts as an array of complex numbers."""
    return np.array([complex(re, im) for re, im in pairs], dtype=np.complex128)
