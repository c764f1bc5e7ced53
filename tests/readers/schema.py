"""The JSON Schemas against models and results, with a validator that knows nothing of carom.

usage: schema.py models CAROM ROOT     model files: the gallery, the bad models, mutations of both
       schema.py results CAROM FOLDER  FOLDER/KIND.*.json against `carom schema KIND`
needs: jsonschema

Models. What is bad by structure is what the reader of model files refuses before any formula is understood. Three promises:
every model of the gallery is accepted; what the schema rejects carom refuses too (never a false alarm in an editor); what the
reader refuses the schema rejects, if it is TOML at all.
"""

import copy
import json
import pathlib
import subprocess
import sys
import tomllib

from jsonschema import Draft7Validator


def schema(carom, *kind):
    text = subprocess.run([carom, "schema", *kind], check=True, capture_output=True, text=True).stdout
    Draft7Validator.check_schema(json.loads(text))
    return Draft7Validator(json.loads(text))


def toml(value, top=False):
    """A value as TOML; the tables of a file as inline tables."""
    if isinstance(value, dict):
        parts = [f"{json.dumps(k, ensure_ascii=False)} = {toml(v)}" for k, v in value.items()]
        return "\n".join(parts) + "\n" if top else "{ " + ", ".join(parts) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(toml(v) for v in value) + "]"
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value, ensure_ascii=False)


def refusal(carom, text, folder):
    """The first error that `carom check` reports, or None."""
    # In the folder of the model, where its tables of numbers are.
    done = subprocess.run([carom, "check", "-", "--json"], input=text, capture_output=True, text=True, cwd=folder)
    assert done.returncode in (0, 1), done.stderr
    errors = json.loads(done.stdout)["errors"]
    return errors[0]["message"] if errors else None


def paths(value, path=()):
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from paths(value[key], (*path, key))


def mutations(model):
    """The model with one entry renamed, of another kind, or gone: each with a word on it."""
    others = {str: True, int: {}, float: {}, bool: 3.0, list: 5.5, dict: 5.5}
    for path in list(paths(model))[1:]:
        *way, key = path
        # Names of the author's own are free; where they are given a name, it is left alone.
        def changed(change):
            new = copy.deepcopy(model)
            home = new
            for step in way:
                home = home[step]
            change(home)
            return new

        value = model
        for step in path:
            value = value[step]
        yield path, "gone", changed(lambda home: home.pop(key))
        yield path, "renamed", changed(lambda home: home.update({key + "_zz": home.pop(key)}))
        if type(value) in others:
            yield path, "of another kind", changed(lambda home: home.update({key: others[type(value)]}))


def models(carom, root):
    root = pathlib.Path(root)
    validator = schema(carom)
    problems = []
    accepted = rejected = passed_on = 0
    good = sorted((root / "models").glob("*.toml"))
    assert len(good) >= 40
    for path in good:
        model = tomllib.loads(path.read_text())
        for error in validator.iter_errors(model):
            problems.append(f"{path.name}: {error.json_path}: {error.message}")
        accepted += 1
    for path in sorted((root / "crates/carom-mech/tests/bad_models").rglob("*.toml")):
        name = str(path.relative_to(root))
        try:
            text = path.read_bytes().decode()
            model = tomllib.loads(text)
        except (UnicodeDecodeError, tomllib.TOMLDecodeError):
            continue  # editors say so without a schema
        if "#@ " in text:
            continue  # what is wrong was said on the command line
        wrong = not validator.is_valid(model)
        refused = refusal(carom, text, path.parent)
        if wrong and refused is None:
            problems.append(f"{name}: rejected, but carom accepts it: {next(validator.iter_errors(model)).message}")
        if structural(refused) and not wrong:
            problems.append(f"{name}: carom refuses its structure ({refused}), the schema does not")
        rejected += wrong
        passed_on += not wrong
    # Every third model is enough to meet every table: the mutations of one meet all its keys.
    mutated = 0
    for path in good[::3]:
        for place, what, model in mutations(tomllib.loads(path.read_text())):
            wrong = not validator.is_valid(model)
            refused = refusal(carom, toml(model, top=True), path.parent)
            place = ".".join(place)
            if wrong and refused is None:
                problems.append(f"{path.name}: {place} {what}: rejected, but carom accepts it")
            if structural(refused) and not wrong:
                problems.append(f"{path.name}: {place} {what}: carom refuses its structure ({refused})")
            mutated += 1
    print(f"{accepted} models accepted, {rejected} bad models rejected, {passed_on} left to carom check, {mutated} mutations agree")
    assert rejected >= 30, rejected
    return problems


STRUCTURE = ("unknown key", "unknown table", "should stand here, not", "should stand here", "needs a name", "is a table", "has no gap",
             "has no `when`", "has no mass", "has no file", "has no coordinates", "nothing says how the system moves",
             "physics is given twice", "stands inside a table", "has a vector but no point", "has a point but no vector")


def structural(message):
    return message is not None and any(words in message for words in STRUCTURE)


def results(carom, folder):
    problems = []
    validators = {}
    for path in sorted(pathlib.Path(folder).glob("*.json")):
        kind = path.name.split(".")[0]
        if kind not in validators:
            validators[kind] = schema(carom, kind)
        for error in validators[kind].iter_errors(json.loads(path.read_text())):
            problems.append(f"{path.name}: {error.json_path}: {error.message[:200]}")
    print(f"{len(list(pathlib.Path(folder).glob('*.json')))} results of {', '.join(validators)} are valid")
    return problems


if __name__ == "__main__":
    what, carom, where = sys.argv[1:]
    found = {"models": models, "results": results}[what](carom, where)
    print(*found, sep="\n")
    sys.exit(bool(found))
