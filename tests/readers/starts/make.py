"""Makes the tables beside it, with pandas, pyarrow, polars and numpy as they write by default unless said otherwise.

All of them hold the same 40 rows of four columns, except what their names say. Run by hand; the files are kept because
tests without Python read them.
"""
import numpy, os, pandas, polars, pyarrow, pyarrow.parquet

os.chdir(os.path.dirname(os.path.abspath(__file__)))
n = 40
columns = {
    "y": 0.5 + numpy.arange(n) / 7,  # all different
    "y'": numpy.arange(n) % 3 - 1,  # integers
    "m": (1 + numpy.arange(n) % 4 / 4).astype("float32"),
    "g": numpy.repeat([9.81, 1.62], n // 2),  # long runs
}
table = pyarrow.table(columns)
write = pyarrow.parquet.write_table

pandas.DataFrame(columns).to_parquet("pandas.parquet")
pandas.DataFrame(columns, index=numpy.arange(n) * 2.0).to_parquet("pandas_index.parquet")
polars.DataFrame(columns).write_parquet("polars.parquet")
write(table, "pyarrow.parquet")
write(table, "pyarrow_v2.parquet", data_page_version="2.0")
write(table, "pyarrow_groups.parquet", row_group_size=7, compression="none", use_dictionary=False)
write(table, "pyarrow_gzip.parquet", compression="gzip")
required = pyarrow.schema([pyarrow.field(f.name, f.type, nullable=False) for f in table.schema])
write(table.cast(required), "pyarrow_required.parquet")
numpy.savez("numpy.npz", **columns)
numpy.savez_compressed("numpy_compressed.npz", **columns)

missing = [None if i % 5 == 3 else i / 8 for i in range(n)]
write(pyarrow.table({"y": missing}), "missing.parquet")
write(pyarrow.table({"y": ["a", "b"]}), "texts.parquet")
write(pyarrow.table({"y": [True, False]}), "truths.parquet")
write(pyarrow.table({"y": [[1.0], [2.0]]}), "lists.parquet")
write(pyarrow.table({"y": pyarrow.array([1, 2], pyarrow.timestamp("us"))}), "times.parquet")
write(table, "brotli.parquet", compression="brotli")
write(table, "delta.parquet", use_dictionary=False, column_encoding={"y'": "DELTA_BINARY_PACKED"})
