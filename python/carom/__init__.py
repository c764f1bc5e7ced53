"""Lagrangian mechanics with impacts: from a description to equations, and to motion.

>>> import carom
>>> model = carom.gallery("double_pendulum_wall")
>>> motion = model.run()
>>> motion.stop.reason, len(motion.impacts)
('reached', 7)
>>> round(float(motion.impacts["time"][0]), 12)
0.845724416264

A :class:`Model` is read from a file (:func:`load`), taken from the gallery (:func:`gallery`), or made from keyword arguments
or SymPy expressions (:class:`Model`). Its :class:`Motion` has samples as NumPy arrays, everything that happened as
:class:`Table`, and the state at any time. What is wrong is a :class:`ModelError` that says where and what to do.
"""

from ._carom import __version__
from ._derivation import Derivation
from ._errors import Interrupted, ModelError, SweepError
from ._insight import Branch, Exponents, Fit, Orbit, Scan, Sensitivity
from ._model import Model, gallery, load
from ._motion import Audit, Motion, State, Stop
from ._sweep import Dataset
from ._table import Table

__all__ = [
    "Audit",
    "Branch",
    "Dataset",
    "Derivation",
    "Exponents",
    "Fit",
    "Interrupted",
    "Model",
    "ModelError",
    "Motion",
    "Orbit",
    "Scan",
    "Sensitivity",
    "State",
    "Stop",
    "SweepError",
    "Table",
    "__version__",
    "gallery",
    "load",
]
