"""Numbers as people have them: NumPy scalars and arrays, lists, fractions, SymPy numbers."""

from __future__ import annotations

import math
import operator
from typing import Any, List, Optional

import numpy as np
import numpy.typing as npt

from ._errors import ModelError


def number(value: Any, what: str) -> float:
    """A finite number, whatever kind of number it is."""
    if isinstance(value, (str, bytes, bool, np.bool_)) or value is None:
        raise ModelError(f"`{what}` must be a number, not {short(value)}")
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError) as cause:
        raise ModelError(f"`{what}` must be a number, not {short(value)}") from cause
    if not math.isfinite(found):
        raise ModelError(f"`{what}` must be finite, not {found}")
    return found


def count(value: Any, what: str, least: int = 0) -> int:
    """A whole number from ``least`` on."""
    if isinstance(value, (bool, np.bool_)):
        raise ModelError(f"`{what}` must be a whole number, not {value!r}")
    try:
        found = operator.index(value)
    except TypeError:
        as_float = number(value, what)
        if not as_float.is_integer():
            raise ModelError(f"`{what}` must be a whole number, not {value!r}") from None
        found = int(as_float)
    if not least <= found < 2**63:
        raise ModelError(f"`{what}` must be at least {least} and less than 2^63, not {short(found)}")
    return found


def array(values: Any, what: str) -> npt.NDArray[np.float64]:
    """Finite numbers in a row, from anything that is a number, a list or an array."""
    if isinstance(values, (str, bytes)):
        raise ModelError(f"`{what}` must be numbers, not {short(values)}")
    check_size(values, what)
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ModelError(f"`{what}` has masked values: leave them out, with .compressed()")
    try:
        given = np.asarray(values)
        if given.dtype.kind not in "biufO":
            raise TypeError(str(given.dtype))
        found = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError, MemoryError) as cause:
        raise ModelError(f"`{what}` must be numbers, not {short(values)}") from cause
    if found.ndim > 1:
        raise ModelError(f"`{what}` must be a list of numbers, not an array of shape {found.shape}")
    found = np.atleast_1d(found)
    if not np.all(np.isfinite(found)):
        bad = int(np.flatnonzero(~np.isfinite(found))[0])
        raise ModelError(f"`{what}` must be finite: value {bad} is {found[bad]}")
    return found


def numbers(values: Any, what: str) -> List[float]:
    """The same as a list."""
    found: List[float] = array(values, what).tolist()
    return found


# Lists of more numbers than this take gigabytes before anything is computed.
_MOST = 50_000_000


def check_size(values: Any, what: str, most: int = _MOST) -> None:
    """Refuses what is too large before it is copied; an array may claim any size and a range any length."""
    try:
        size = values.size if isinstance(values, np.ndarray) else len(values) if hasattr(values, "__len__") else 1
    except OverflowError:
        size = 2**63
    except Exception:  # something without a length after all
        return
    if isinstance(size, int) and size > most:
        raise ModelError(f"`{what}` has {size} values, more than {most}")


def written(value: float) -> str:
    """A number as a person types it: the shortest digits that read back to the same double, ``2`` and not ``2.0``."""
    digits = repr(float(value))
    return digits[:-2] if digits.endswith(".0") else digits


def text(value: Any, what: str) -> str:
    """A text that can be written down."""
    if not isinstance(value, str):
        raise ModelError(f"`{what}` must be text, not {short(value)}")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise ModelError(f"`{what}` is not valid text") from None
    return value


def optional_number(value: Any, what: str) -> Optional[float]:
    return None if value is None else number(value, what)


def optional_count(value: Any, what: str, least: int = 0) -> Optional[int]:
    return None if value is None else count(value, what, least)


def short(value: Any) -> str:
    try:
        text = repr(value)
    except Exception:  # a repr that raises is still no number
        text = f"<{type(value).__name__}>"
    return text if len(text) <= 60 else text[:57] + "..."
