# %% [markdown]
# # Ten thousand double pendulums on Dask
# The same call runs here, on two processes or on a cluster: rows are divided into chunks by their index, a chunk is a parquet file
# that is written whole or not at all, and the bytes are the same whatever ran where.
# %%
import tempfile
import carom
from distributed import Client, LocalCluster

model = carom.gallery("double_pendulum_wall")
ask = dict(random={"theta1": (-3, 3), "theta2": (0, 3)}, count=10_000, until=5, chunk=1250, progress=False)
folder = tempfile.mkdtemp()
cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
with cluster, Client(cluster) as client:
    there = model.sweep(to=f"{folder}/dask", on=client, **ask)
here = model.sweep(to=f"{folder}/here", **ask)
same = all(a.read_bytes() == b.read_bytes() for a, b in zip(there.files, here.files))
print(len(there), "rows in", len(there.files), "files; same bytes:", same)
# %% [markdown]
# Some of the starts lie behind the wall. That stops nothing: their rows say so.
# %%
table = there.to_table()
print({stop: table["stop"].count(stop) for stop in sorted(set(table["stop"]))})
print(next(error for error in table["error"] if error))
