# %% [markdown]
# # A bifurcation diagram of a ball on a table
# A ball bounces on a table that moves as A sin(ωt) and loses some of its speed at each hit. A million balls: a thousand amplitudes, a
# thousand starts for each. What is drawn is the velocity of each ball at the end, a whole number of periods after the beginning.
# %%
import os
import carom
import numpy as np

rows = int(os.environ.get("CAROM_ROWS", "1000000"))
model = carom.gallery("vibrating_table")
omega, g, e = model.value("omega"), model.value("g"), model.value("e_n")
amplitudes = np.linspace(0.007, 0.035, 1000)
starts = np.linspace(0.05, 0.25, rows // 1000)
table = model.sweep(A=amplitudes, y=starts, until=20 * 2 * np.pi / omega, columns=["energy"])
print(len(table), "trajectories:", sorted(set(table["stop"])))
# %% [markdown]
# In units of g/ω² the amplitude is Γ = Aω²/g. One hit per period is possible from Γ = π(1 − e)/(1 + e) on, and doubles its period at
# Γ² = π²(1 − e)²/(1 + e)² + 4(1 + e²)²/(1 + e)⁴: two closed forms, drawn as lines.
# %%
least = np.pi * (1 - e) / (1 + e)
doubling = np.sqrt(least**2 + (2 * (1 + e**2) / (1 + e) ** 2) ** 2)
print(f"one hit per period from A = {least * g / omega**2:.5f}, two from A = {doubling * g / omega**2:.5f}")
# %%
from matplotlib import pyplot

velocity = table["y'"].reshape(len(amplitudes), len(starts))
figure, axes = pyplot.subplots(figsize=(9, 5))
axes.plot(np.repeat(amplitudes, len(starts)), velocity.ravel(), ",", alpha=0.1, rasterized=True)
for edge in (least, doubling):
    axes.axvline(edge * g / omega**2, color="0.6", linewidth=1)
axes.set(xlabel="A", ylabel="y' after 20 periods")
figure.tight_layout()
# %% [markdown]
# The straight line is balls that have come to rest on the table: they have its velocity, Aω. The branch that begins at the first grey
# line hits once per period; it splits at the second one, and what follows is chaos.
