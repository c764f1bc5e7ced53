"""Tables: named columns of one length, for NumPy, pandas, polars and every consumer of Arrow."""

from __future__ import annotations

import html
from typing import Any, Dict, Iterator, List

import numpy as np

from . import _carom
from ._numbers import short


class Table:
    """Named columns of one length.

    Every library that speaks Arrow's PyCapsule interface takes it as it is (``pyarrow.table(t)``, ``polars.DataFrame(t)``,
    DuckDB); nothing of them is needed.

    >>> import carom
    >>> impacts = carom.gallery("bouncing_mass").run(until=2).impacts
    >>> impacts.columns[:4]
    ['time', 'walls', 'x', 'y']
    >>> impacts["walls"][0]
    'floor'
    """

    __slots__ = ("_native",)

    def __init__(self, native: _carom.Table) -> None:
        if not isinstance(native, _carom.Table):
            raise TypeError("tables are made by models and motions")
        self._native = native

    @property
    def columns(self) -> List[str]:
        """Names of the columns."""
        return list(self._native.columns)

    def __len__(self) -> int:
        return len(self._native)

    def __getitem__(self, name: str) -> Any:
        """A column: an array of numbers, or a list of texts."""
        if not isinstance(name, str):
            raise TypeError(f"columns have names, such as {self.columns[0]!r}: not {short(name)}; rows are in .rows()")
        try:
            column = self._native.column(name)
        except KeyError:
            raise KeyError(f"no column {name!r}: there are {', '.join(self.columns)}") from None
        return column if isinstance(column, list) else np.asarray(column)

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def keys(self) -> List[str]:
        """Names of the columns, as of a mapping."""
        return self.columns

    def to_dict(self) -> Dict[str, Any]:
        """Columns by name."""
        return {name: self[name] for name in self.columns}

    def rows(self) -> List[Dict[str, Any]]:
        """One dictionary per row."""
        columns = self.to_dict()
        plain = {name: list(values) if isinstance(values, list) else values.tolist() for name, values in columns.items()}
        return [{name: values[i] for name, values in plain.items()} for i in range(len(self))]

    def to_pandas(self) -> Any:
        """A pandas ``DataFrame``."""
        import pandas

        return pandas.DataFrame(self.to_dict())

    def to_polars(self) -> Any:
        """A polars ``DataFrame``."""
        import polars

        return polars.DataFrame(self)

    def to_arrow(self) -> Any:
        """A pyarrow ``Table``."""
        import pyarrow

        return pyarrow.table(self)

    def to_parquet(self) -> bytes:
        """The bytes of a parquet file."""
        return self._native.parquet()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._native.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> Any:
        return self._native.__arrow_c_schema__()

    def __reduce__(self) -> Any:
        return (_from_parquet, (self.to_parquet(),))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and self.to_parquet() == other.to_parquet()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        n = len(self)
        return f"<carom.Table: {n} row{'' if n == 1 else 's'}, columns {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        most = 12
        names = self.columns[:20]
        values = [self[name][:most] for name in names]

        def cell(value: Any) -> str:
            text = "" if isinstance(value, float) and np.isnan(value) else str(value)
            if isinstance(value, (float, np.floating)) and not np.isnan(value):
                text = f"{value:.6g}"
            return f"<td>{html.escape(text[:80])}</td>"

        head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
        body = "".join(
            "<tr>" + "".join(cell(column[i]) for column in values) + "</tr>" for i in range(min(most, len(self)))
        )
        more = f"<p>{len(self)} rows, {len(self.columns)} columns</p>"
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _from_parquet(data: bytes) -> Table:
    return Table(_carom.Table.from_parquet([data]))
