# %% [markdown]
# # Ten thousand double pendulums on Dask
# The same call runs here, on two processes or on a cluster: rows are divided into chunks by their index, a chunk is a parquet file
# that is written whole or not at all, and the bytes are the same whatever ran where.
# %%
import os
import tempfile
import carom
from distributed import Client, LocalCluster

rows = int(os.environ.get("CAROM_ROWS", "10000"))
model = carom.gallery("double_pendulum_wall")
ask = dict(random={"theta1": (-3, 3), "theta2": (0, 3)}, count=rows, until=5, chunk=max(1, rows // 8), progress=False)
folder = tempfile.mkdtemp()
with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
    there = model.sweep(to=f"{folder}/dask", on=client, **ask)
here = model.sweep(to=f"{folder}/here", **ask)
print(len(there), "rows; same bytes:", all(a.read_bytes() == b.read_bytes() for a, b in zip(there.files, here.files)))
# %%
table = there.to_table()
print({stop: table["stop"].count(stop) for stop in sorted(set(table["stop"]))})
