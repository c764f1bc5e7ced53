"""Numbers as people have them: NumPy scalars and arrays, lists, fractions, SymPy numbers."""

from __future__ import annotations

import math
import operator
from typing import Any, List, Optional

import numpy as np

from ._errors import ModelError


def number(value: Any, what: str) -> float:
    """A finite number, whatever kind of number it is."""
    if isinstance(value, (str, bytes, bool)) or value is None:
        raise ModelError(f"`{what}` must be a number, not {value!r}")
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError) as cause:
        raise ModelError(f"`{what}` must be a number, not {_short(value)}") from cause
    if not math.isfinite(found):
        raise ModelError(f"`{what}` must be finite, not {found}")
    return found


def count(value: Any, what: str, least: int = 0) -> int:
    """A whole number from ``least`` on."""
    if isinstance(value, bool):
        raise ModelError(f"`{what}` must be a whole number, not {value!r}")
    try:
        found = operator.index(value)
    except TypeError:
        as_float = number(value, what)
        if not as_float.is_integer():
            raise ModelError(f"`{what}` must be a whole number, not {value!r}") from None
        found = int(as_float)
    if not least <= found < 2**63:
        raise ModelError(f"`{what}` must be at least {least} and less than 2^63, not {_short(found)}")
    return found


def numbers(values: Any, what: str) -> List[float]:
    """A list of finite numbers from anything that is a number, a list or an array."""
    if isinstance(values, (str, bytes)):
        raise ModelError(f"`{what}` must be numbers, not {_short(values)}")
    try:
        given = np.asarray(values)
        if given.dtype.kind not in "biufO":
            raise TypeError(str(given.dtype))
        array = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError, MemoryError) as cause:
        raise ModelError(f"`{what}` must be numbers, not {_short(values)}") from cause
    if array.ndim > 1:
        raise ModelError(f"`{what}` must be a list of numbers, not an array of shape {array.shape}")
    array = np.atleast_1d(array)
    if not np.all(np.isfinite(array)):
        bad = int(np.flatnonzero(~np.isfinite(array))[0])
        raise ModelError(f"`{what}` must be finite: value {bad} is {array[bad]}")
    found: List[float] = array.tolist()
    return found


def text(value: Any, what: str) -> str:
    """A text that can be written down."""
    if not isinstance(value, str):
        raise ModelError(f"`{what}` must be text, not {_short(value)}")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise ModelError(f"`{what}` is not valid text") from None
    return value


def optional_number(value: Any, what: str) -> Optional[float]:
    return None if value is None else number(value, what)


def optional_count(value: Any, what: str, least: int = 0) -> Optional[int]:
    return None if value is None else count(value, what, least)


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except Exception:  # a repr that raises is still no number
        text = f"<{type(value).__name__}>"
    return text if len(text) <= 60 else text[:57] + "..."
