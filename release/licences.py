"""Prints the licences of everything that is linked into `carom`, from `cargo metadata` and the sources of the crates.

usage: licences.py [--target TRIPLE] [--studio]

Crates that only help to build are not listed, unless something of them reaches the program (fonts).
"""

import json
import pathlib
import subprocess
import sys

TEXTS = ("licen", "copying", "notice", "unlicense")
# Build dependencies whose contents reach the program.
CARRIED = {"dejavu", "typst-assets"}


def metadata(target):
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    if target:
        command += ["--filter-platform", target]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def linked(data):
    """The packages reached from carom-cli by normal dependencies."""
    nodes = {node["id"]: node for node in data["resolve"]["nodes"]}
    packages = {package["id"]: package for package in data["packages"]}
    queue = [p["id"] for p in data["packages"] if p["name"] == "carom-cli"]
    seen = set()
    while queue:
        here = queue.pop()
        if here in seen:
            continue
        seen.add(here)
        for dependency in nodes[here]["deps"]:
            kinds = {kind["kind"] for kind in dependency["dep_kinds"]}
            carried = packages[dependency["pkg"]]["name"] in CARRIED and "build" in kinds
            # Macros run when the program is built; nothing of them is linked.
            macro = any("proc-macro" in t["kind"] for t in packages[dependency["pkg"]]["targets"])
            if (None in kinds and not macro) or carried:
                queue.append(dependency["pkg"])
    return sorted((packages[i] for i in seen), key=lambda p: (p["name"], p["version"]))


def texts(package):
    folder = pathlib.Path(package["manifest_path"]).parent
    named = {folder / package["license_file"]} if package["license_file"] else set()
    # What is carried along, a font, has its licence beside it.
    where = folder.rglob("*") if package["name"] in CARRIED else folder.iterdir()
    found = {p for p in where if p.is_file() and p.name.lower().startswith(TEXTS)}
    return sorted(named | found)


def studio():
    """The packages of npm that the page of `carom studio` is made of; what only builds or tests it is not in it."""
    lock = json.loads(pathlib.Path("studio/package-lock.json").read_text())
    found = []
    for place, entry in lock["packages"].items():
        if place and not entry.get("dev"):
            manifest = pathlib.Path("studio") / place / "package.json"
            if not manifest.is_file():
                if entry.get("optional"):
                    continue
                sys.exit(f"{manifest} is missing: bash studio/build")
            stated = entry.get("license") or json.loads(manifest.read_text()).get("license")
            name = place.rsplit("node_modules/", 1)[-1]
            found.append({"name": name, "version": entry["version"], "license": stated, "license_file": None,
                          "manifest_path": str(manifest)})
    return sorted(found, key=lambda p: (p["name"], p["version"]))


def main():
    target = sys.argv[sys.argv.index("--target") + 1] if "--target" in sys.argv else None
    packages = [p for p in linked(metadata(target)) if not p["name"].startswith("carom")]
    if not packages:
        sys.exit("no dependencies: is this the workspace?")
    packages += studio() if "--studio" in sys.argv else []
    unlicensed = [p["name"] for p in packages if not p["license"] and not p["license_file"]]
    if unlicensed:
        sys.exit(f"no licence is stated by {', '.join(unlicensed)}")
    print("# Licences of what is linked into carom\n")
    print("| crate or package | version | licence |\n|---|---|---|")
    for package in packages:
        print(f"| {package['name']} | {package['version']} | {package['license'] or 'see below'} |")
    # The same text is printed once, with everyone who uses it.
    users = {}
    for package in packages:
        for path in texts(package):
            text = path.read_text(encoding="utf-8", errors="replace").strip()
            users.setdefault(text, []).append(f"{package['name']} {package['version']} ({path.name})")
    for text, names in users.items():
        print(f"\n## {', '.join(sorted(set(names)))}\n")
        print("\n".join(f"    {line.rstrip()}".rstrip() for line in text.splitlines()))


if __name__ == "__main__":
    main()
