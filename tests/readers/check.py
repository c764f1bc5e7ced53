"""Reads carom's tables back with other people's readers and compares them with the JSON of the same motion.

usage: check.py DIR     for every NAME.json in DIR: NAME.csv, NAME.npz, NAME.parquet and NAME.impacts.csv / .parquet
needs: numpy, pyarrow
"""

import csv
import json
import math
import pathlib
import sys

import numpy
import pyarrow.parquet


def truth(motion):
    """Column name -> values (None where missing), straight from the JSON contract."""
    columns = {"time": motion["time"]}
    columns |= motion["position"]
    columns |= {f"{name}'": values for name, values in motion["velocity"].items()}
    for name, values in motion["momentum"].items():
        columns[f"p_{name}" if name in motion["position"] else name] = values
    columns["hamiltonian"] = motion["hamiltonian"]
    columns["energy"] = motion["energy"]
    columns |= {f"mu.{name}": values for name, values in motion["multiplier"].items()}
    columns |= {f"f.{name}": values for name, values in motion["contact_force"].items()}
    columns |= {f"drive.{name}": values for name, values in motion["driving_force"].items()}
    for name, values in motion["output"].items():
        columns[f"output.{name}" if name in columns else name] = values
    return columns


def happenings(motion):
    """Rows (kind, time, name, position, velocity after, impulse by wall) of the second table."""
    rows = [("impact", i["time"], "+".join(i["walls"]), i) for i in motion["impacts"]]
    rows += [("contact", c["from"], c["wall"], c) for c in motion["contacts"]]
    rows += [("graze", g["time"], g["wall"], g) for g in motion["grazes"]]
    rows += [("event", e["time"], e["name"], e) for e in motion["events"]]
    return sorted(rows, key=lambda row: row[1])


def same(a, b):
    """Bit for bit, with None and NaN both meaning missing."""
    a = math.nan if a is None else float(a)
    b = math.nan if b is None else float(b)
    return a == b or (math.isnan(a) and math.isnan(b))


def compare(where, expected, columns):
    for name, values in expected.items():
        assert name in columns, f"{where}: no column {name!r} among {list(columns)}"
        found = columns[name]
        assert len(found) == len(values), f"{where}: {name} has {len(found)} rows, not {len(values)}"
        for row, (a, b) in enumerate(zip(values, found)):
            assert same(a, b), f"{where}: {name}[{row}] is {b!r}, not {a!r}"


def compare_happenings(where, rows, columns):
    assert list(columns["kind"]) == [r[0] for r in rows], f"{where}: kinds {list(columns['kind'])}"
    assert [n or "" for n in columns["name"]] == [r[2] for r in rows], f"{where}: names"
    for k, (kind, time, _, record) in enumerate(rows):
        assert same(time, columns["time"][k]), f"{where}: time of row {k}"
        if kind in ("impact", "event"):
            after = record["velocity_after" if kind == "impact" else "velocity"]
            for name, value in record["position"].items():
                assert same(value, columns[name][k]), f"{where}: {name} of row {k}"
            for name, value in after.items():
                assert same(value, columns[f"{name}'"][k]), f"{where}: {name}' of row {k}"
        if kind == "impact":
            for wall, impulse in zip(record["walls"], record["impulse"]):
                assert same(impulse, columns[f"impulse.{wall}"][k]), f"{where}: impulse of row {k}"
        if kind == "contact":
            assert same(record["to"], columns["until"][k]), f"{where}: end of contact {k}"


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        header, *rows = list(csv.reader(file))
    columns = {name: [row[i] for row in rows] for i, name in enumerate(header)}
    return {
        name: values if name in ("kind", "name") else [None if v == "" else float(v) for v in values]
        for name, values in columns.items()
    }


def read_parquet(path):
    return pyarrow.parquet.read_table(path).to_pydict()


def main(directory):
    checked = 0
    for path in sorted(pathlib.Path(directory).glob("*.json")):
        motion = json.loads(path.read_text(encoding="utf-8"))
        if "position" not in motion:
            continue
        expected, rows, stem = truth(motion), happenings(motion), path.with_suffix("")
        if (file := stem.with_suffix(".csv")).exists():
            compare(file, expected, read_csv(file))
            checked += 1
        if (file := pathlib.Path(f"{stem}.impacts.csv")).exists():
            compare_happenings(file, rows, read_csv(file))
            checked += 1
        if (file := stem.with_suffix(".parquet")).exists():
            compare(file, expected, read_parquet(file))
            checked += 1
        if (file := pathlib.Path(f"{stem}.impacts.parquet")).exists():
            compare_happenings(file, rows, read_parquet(file))
            checked += 1
        if (file := stem.with_suffix(".npz")).exists():
            with numpy.load(file, allow_pickle=False) as archive:
                columns = {name: archive[name].tolist() for name in archive.files}
            compare(file, expected, columns)
            prefix = "impacts."
            second = {n.removeprefix(prefix): v for n, v in columns.items() if n.startswith(prefix)}
            if second:
                compare_happenings(file, rows, second)
            checked += 1
    if checked == 0:
        sys.exit(f"nothing to check in {directory}")
    print(f"{checked} tables agree with their JSON")


if __name__ == "__main__":
    main(sys.argv[1])
