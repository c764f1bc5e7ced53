"""Runs the notebooks and makes the chapter of the book from what they print.

    python build.py            runs all, writes target/notebooks/*.ipynb and docs/book/src/notebooks.md
    python build.py --check    runs all; fails if a cell fails or the chapter is stale
    python build.py --run      runs all; fails if a cell fails

Sources are Python files with `# %%` between cells: they can be read, compared and run without a notebook.
"""

import pathlib
import re
import sys

import nbclient
import nbformat

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CHAPTER = ROOT / "docs/book/src/notebooks.md"


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


def page(done: nbformat.NotebookNode) -> str:
    out = []
    for cell in done.cells:
        if cell.cell_type == "markdown":
            out.append(re.sub(r"^#", "##", cell.source, flags=re.M))
            continue
        out.append(f"```python\n{cell.source}\n```")
        for output in cell.outputs:
            data = output.get("data", {})
            if output.output_type == "stream" and output.name == "stdout":
                out.append(f"```text\n{output.text.rstrip()}\n```")
            elif "image/png" in data or "<iframe" in data.get("text/html", ""):
                out.append("*(here the notebook shows a picture)*")
            elif "text/plain" in data:
                out.append(f"```text\n{data['text/plain'].rstrip()}\n```")
    return "\n\n".join(out)


def main() -> None:
    target = ROOT / "target/notebooks"
    target.mkdir(parents=True, exist_ok=True)
    head = "# Notebooks\n\nThese chapters are notebooks: the tests run them (`python/notebooks`), and what they print stands here.\n"
    pages = [head]
    for file in sorted(HERE.glob("[0-9]*.py")):
        made = notebook(file.read_text())
        done = nbclient.NotebookClient(made, timeout=600, kernel_name="python3").execute()
        nbformat.write(done, target / f"{file.stem}.ipynb")
        pages.append(page(done) + "\n")
        print(f"{file.stem}: {sum(c.cell_type == 'code' for c in done.cells)} cells")
    text = "\n".join(pages)
    if "--run" in sys.argv:
        return
    if "--check" not in sys.argv:
        CHAPTER.write_text(text)
    elif CHAPTER.read_text() != text:
        sys.exit("docs/book/src/notebooks.md is stale: python python/notebooks/build.py")


if __name__ == "__main__":
    main()
