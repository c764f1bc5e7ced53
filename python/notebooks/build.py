"""Runs the notebooks and makes the chapters of the book from them.

    python build.py            runs all; writes docs/book/src/notebooks/*.md, their pictures and animations to
                               docs/book/src/figures/notebooks (not kept in the repository), target/notebooks/*.ipynb
    python build.py --check    runs all; fails if a cell fails, or if a chapter is not what its notebook shows now
    python build.py NAME …     only these

Sources are Python files with `# %%` between cells: they can be read, compared and run without a notebook. CAROM_ROWS makes the
large sweeps smaller; a chapter whose notebook reads it is then not compared.
"""

import base64
import html
import os
import pathlib
import re
import sys
import time

import nbclient
import nbformat

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CHAPTERS = ROOT / "docs/book/src/notebooks"
FIGURES = ROOT / "docs/book/src/figures/notebooks"


def notebook(source: str) -> nbformat.NotebookNode:
    cells = []
    for part in re.split(r"^# %%", source, flags=re.M)[1:]:
        head, _, body = part.partition("\n")
        body = body.strip("\n")
        if "[markdown]" in head:
            text = "\n".join(line[2:] if line.startswith("# ") else line.lstrip("#") for line in body.splitlines())
            cells.append(nbformat.v4.new_markdown_cell(text))
        else:
            cells.append(nbformat.v4.new_code_cell(body))
    for k, cell in enumerate(cells):
        cell["id"] = f"cell-{k}"
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return nbformat.v4.new_notebook(cells=cells, metadata=metadata)


def picture(name: str, ending: str, data: bytes, alt: str) -> str:
    """Writes a picture or an animation beside the book and shows it."""
    FIGURES.mkdir(parents=True, exist_ok=True)
    (FIGURES / f"{name}.{ending}").write_bytes(data)
    where = f"../figures/notebooks/{name}.{ending}"
    if ending == "html":
        return f'<iframe src="{where}" title="{alt}" style="width:100%;height:560px;border:0" loading="lazy"></iframe>'
    return f'<img src="{where}" alt="{alt}">'


def shown(data: dict, name: str) -> str:
    """What a notebook shows for a value, as it stands in the book."""
    rich = data.get("text/html", "")
    if "image/png" in data:
        return picture(name, "png", base64.b64decode(data["image/png"]), "what the cell above draws")
    if "image/svg+xml" in data:
        return picture(name, "svg", data["image/svg+xml"].encode(), "what the cell above draws")
    frame = re.search(r'<iframe srcdoc="([^"]*)"', rich)
    if frame:
        return picture(name, "html", html.unescape(frame[1]).encode(), "the animation that the cell above shows")
    if "<svg" in rich:
        text, _, svg = rich.partition("<svg")
        said = html.unescape(re.sub(r"<[^>]+>", "", text)).strip()
        return f"{said}\n\n" + picture(name, "svg", ("<svg" + svg).encode(), "what the cell above draws")
    if "<table" in rich:
        return '<div style="overflow-x:auto">\n' + re.sub(r"\n\s*\n", "\n", rich) + "\n</div>"
    return f"```text\n{data.get('text/plain', '').rstrip()}\n```"


def page(done: nbformat.NotebookNode, stem: str) -> str:
    out = []
    pictures = 0
    for cell in done.cells:
        if cell.cell_type == "markdown":
            out.append(cell.source)
            continue
        out.append(f"```python\n{cell.source}\n```")
        # What is printed comes in pieces, as the clock has it.
        printed = "".join(o.text for o in cell.outputs if o.output_type == "stream" and o.name == "stdout").rstrip()
        if printed:
            out.append(f"```text\n{printed}\n```")
        for output in cell.outputs:
            # The object behind a picture says nothing to a reader.
            drawn = output.get("data", {}).get("text/plain", "").startswith("<Axes")
            if output.output_type in ("display_data", "execute_result") and not drawn:
                pictures += 1
                out.append(shown(output.data, f"{stem}-{pictures}"))
    source = f"*A notebook, `python/notebooks/{stem}.py`: the tests run it, and what it shows stands here.*"
    title, _, rest = "\n\n".join(out).partition("\n")
    return f"{title}\n\n{source}\n\n{rest.lstrip()}\n"


def main() -> None:
    wanted = [word for word in sys.argv[1:] if not word.startswith("--")]
    target = ROOT / "target/notebooks"
    target.mkdir(parents=True, exist_ok=True)
    CHAPTERS.mkdir(parents=True, exist_ok=True)
    stale = []
    for file in sorted(HERE.glob("[0-9]*.py")):
        if wanted and not any(word in file.stem for word in wanted):
            continue
        begin, source = time.monotonic(), file.read_text()
        done = nbclient.NotebookClient(notebook(source), timeout=900, kernel_name="python3").execute()
        nbformat.write(done, target / f"{file.stem}.ipynb")
        text, chapter = page(done, file.stem), CHAPTERS / f"{file.stem}.md"
        print(f"{file.stem}: {sum(c.cell_type == 'code' for c in done.cells)} cells, {time.monotonic() - begin:.1f} s", flush=True)
        smaller = "CAROM_ROWS" in os.environ and "CAROM_ROWS" in source
        if "--check" not in sys.argv:
            chapter.write_text(text)
        elif not smaller and (not chapter.exists() or chapter.read_text() != text):
            stale.append(chapter.name)
            (target / chapter.name).write_text(text)
    if stale:
        sys.exit(f"not what the notebooks show now (see target/notebooks): {', '.join(stale)}\n  python python/notebooks/build.py makes them")


if __name__ == "__main__":
    main()
