"""SymPy expressions as formulas of a model.

``theta(t)`` of ``dynamicsymbols`` is the coordinate ``theta``, ``Derivative(theta(t), t)`` its velocity ``theta'``; symbols are
names. What has no counterpart is named.
"""

from __future__ import annotations

from typing import Any, List

from ._errors import ModelError

_FUNCTIONS = {
    "sin": "sin", "cos": "cos", "tan": "tan", "asin": "asin", "acos": "acos", "atan": "atan", "atan2": "atan2",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asinh": "asinh", "acosh": "acosh", "atanh": "atanh",
    "exp": "exp", "log": "log", "Abs": "abs", "sign": "sign", "Min": "min", "Max": "max",
}  # fmt: skip
# One divided by another function.
_INVERSE = {"sec": "cos", "csc": "sin", "cot": "tan", "sech": "cosh", "csch": "sinh", "coth": "tanh"}


def is_sympy(value: Any) -> bool:
    """Is it an object of SymPy? Without importing it."""
    return any((base.__module__ or "").split(".")[0] == "sympy" for base in type(value).__mro__)


def name_of(value: Any) -> str:
    """The name of a coordinate or a parameter given as a SymPy symbol: ``theta(t)`` → ``theta``."""
    import sympy

    if isinstance(value, sympy.Derivative):
        return formula(value)
    if isinstance(value, sympy.core.function.AppliedUndef):
        return _identifier(str(value.func.__name__))
    if isinstance(value, sympy.Symbol):
        return _identifier(value.name)
    raise ModelError(f"SymPy's `{_cut(value)}` is not a name")


def formula(expression: Any) -> str:
    """A SymPy expression as the text of a formula."""
    import sympy

    if isinstance(expression, sympy.MatrixBase):
        if expression.shape == (1, 1):
            return formula(expression[0, 0])
        raise ModelError(f"a formula is one expression, not a matrix of shape {expression.shape}")
    # What an equation or a wall says of its difference: it is zero, or it stays positive.
    if isinstance(expression, (sympy.Eq, sympy.Ge, sympy.Gt)):
        expression = expression.lhs - expression.rhs
    elif isinstance(expression, (sympy.Le, sympy.Lt)):
        expression = expression.rhs - expression.lhs
    if not isinstance(expression, sympy.Expr):
        raise ModelError(f"SymPy's `{_cut(expression)}` ({type(expression).__name__}) is not an expression")
    return _print(expression, 0)


def entries(matrix: Any) -> List[str]:
    """The entries of a SymPy matrix as formulas, row by row."""
    return [formula(entry) for entry in matrix]


def _identifier(name: str) -> str:
    plain = name.replace("\\", "").replace("{", "").replace("}", "").strip("$ ").replace("′", "'").replace("’", "'")
    # A velocity that came from here goes back: `theta'`.
    if not plain.rstrip("'").isidentifier():
        raise ModelError(f"the SymPy symbol `{name}` is no name for carom: use letters, digits and underscores")
    return plain


_SUM, _PRODUCT, _POWER = 1, 2, 3


def _print(e: Any, level: int) -> str:
    import sympy

    def wrapped(text: str, own: int) -> str:
        return f"({text})" if own < level else text

    if e is sympy.pi:
        return "pi"
    if e is sympy.E:
        return "exp(1)"
    if isinstance(e, sympy.Integer):
        return wrapped(str(int(e)), _SUM if e < 0 else 4)
    if isinstance(e, sympy.Rational):
        return wrapped(f"{int(e.p)}/{int(e.q)}", _SUM if e < 0 else _PRODUCT)
    if isinstance(e, sympy.Float):
        return wrapped(repr(float(e)), _SUM if e < 0 else 4)
    if isinstance(e, sympy.Symbol):
        return _identifier(e.name)
    if isinstance(e, sympy.Derivative):
        base, *variables = e.args
        orders = [int(v[1]) for v in variables]
        if isinstance(base, sympy.core.function.AppliedUndef) and len(orders) == 1 and len(base.args) == 1:
            return _identifier(str(base.func.__name__)) + chr(39) * orders[0]
        raise _unknown(e, "only derivatives of a coordinate by the time have a name; use .doit() for others")
    if isinstance(e, sympy.core.function.AppliedUndef):
        if len(e.args) != 1 or not isinstance(e.args[0], sympy.Symbol):
            raise _unknown(e, "a coordinate is a function of the time alone, as dynamicsymbols makes it")
        return _identifier(str(e.func.__name__))
    if isinstance(e, sympy.Add):
        text = ""
        for term in e.as_ordered_terms():
            part = _print(term, _SUM)
            text += part if not text else (f" - {part[1:]}" if part.startswith("-") else f" + {part}")
        return wrapped(text, _SUM)
    if isinstance(e, sympy.Mul):
        coefficient, rest = e.as_coeff_Mul()
        if coefficient.is_negative:
            return wrapped("-" + _print(-e, _PRODUCT), _SUM)
        above, below = e.as_numer_denom() if not e.has(sympy.Float) else (e, sympy.S.One)
        if below is not sympy.S.One and below != 1:
            return wrapped(f"{_print(above, _PRODUCT)}/{_print(below, _POWER)}", _PRODUCT)
        return wrapped("*".join(_print(factor, _POWER) for factor in e.as_ordered_factors()), _PRODUCT)
    if isinstance(e, sympy.exp):
        return f"exp({_print(e.args[0], 0)})"
    if isinstance(e, sympy.Pow):
        base, power = e.as_base_exp()
        if power == sympy.Rational(1, 2):
            return f"sqrt({_print(base, 0)})"
        if power == -1:
            return wrapped(f"1/{_print(base, _POWER)}", _PRODUCT)
        return wrapped(f"{_print(base, 4)}^{_print(power, 4)}", _POWER)
    below = _INVERSE.get(type(e).__name__)
    if below is not None:
        return wrapped(f"1/{below}({_print(e.args[0], 0)})", _PRODUCT)
    name = _FUNCTIONS.get(type(e).__name__)
    if name in ("min", "max") and len(e.args) > 2:
        first, *others = e.args
        return f"{name}({_print(first, 0)}, {_print(type(e)(*others, evaluate=False), 0)})"
    if name is not None:
        return f"{name}({', '.join(_print(argument, 0) for argument in e.args)})"
    raise _unknown(e, "there are " + ", ".join(sorted(set(_FUNCTIONS.values()) | {"sqrt"})))


def _unknown(e: Any, hint: str) -> ModelError:
    message = f"SymPy's {type(e).__name__} `{_cut(e)}` cannot be translated"
    diagnostic = {"message": message, "line": None, "column": None, "hint": hint, "severity": "error", "source_line": None}
    return ModelError(f"{message}\n  hint: {hint}", [diagnostic])


def _cut(e: Any) -> str:
    text = str(e)
    return text if len(text) < 80 else text[:77] + "..."
