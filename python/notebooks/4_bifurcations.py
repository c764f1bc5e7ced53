# %% [markdown]
# # A bifurcation diagram of a ball on a table
# A ball bounces on a table that moves as A sin(ωt). Many starts for each amplitude; what is left after a while is drawn. The
# diagram of the book has 10⁶ trajectories (`CAROM_ROWS=1000000`); the tests make do with fewer.
# %%
import os
import carom
import numpy as np

rows = int(os.environ.get("CAROM_ROWS", "4000"))
model = carom.gallery("vibrating_table")
amplitudes = np.linspace(0.002, 0.012, max(2, rows // 100))
table = model.sweep(A=amplitudes, y=np.linspace(0.05, 0.3, 100), until=5, progress=False)
print(len(table), "trajectories:", sorted(set(table["stop"])))
# %% [markdown]
# Height above the table at the end, amplitude by amplitude.
# %%
final = table["final.y"].reshape(len(amplitudes), 100)
for k in range(0, len(amplitudes), max(1, len(amplitudes) // 8)):
    print(f"A = {amplitudes[k]:.4f}: heights from {final[k].min():+.4f} to {final[k].max():+.4f}, {len(np.unique(final[k].round(6)))} different")
# %%
try:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    axes.plot(np.repeat(amplitudes, 100), final.ravel(), ",")
    axes.set(xlabel="A", ylabel="y at t = 5")
except ImportError:
    print("matplotlib is not installed")
