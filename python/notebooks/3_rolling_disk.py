# %% [markdown]
# # The rolling disk of the paper
# Rolling without slipping is two nonholonomic rows; the wall acts through them: the impulse is followed by the reaction of the rows, so
# that the velocity after the impact still rolls.
# %%
import carom
import numpy as np

disk = carom.gallery("rolling_disk")
print(disk.coordinates, disk.constraints, disk.walls)
disk.derive().impact_law(disk.walls[0])["velocity_after"]
# %%
motion = disk.run()
print("impacts:", len(motion.impacts))
print("rows are violated by less than 1e-13:", motion.audit.constraint_drift < 1e-13)
motion.plot("y over x")
# %%
energy = motion["energy"]
print("energy is kept to 1e-13:", np.ptp(energy) / abs(energy[0]) < 1e-13)
# %% [markdown]
# The Hamiltonian side of the same model moves the same:
# %%
other = carom.gallery("rolling_disk_hamiltonian").run(at=motion.time)
same = [c for c in disk.coordinates if c in other.columns]
off = max(float(np.max(np.abs(motion[c] - other[c]))) for c in same)
print(same, "agree to 1e-9:", off < 1e-9)
