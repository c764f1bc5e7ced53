"""Sweeps: rows of an ensemble in memory, in a folder, on one machine or on many.

One design under all: the rows are divided into chunks by their index, the size of a chunk is measured once and written into the
folder's manifest, a chunk is a file that is written whole or not at all. Who simulates it does not matter: same bytes.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from . import _carom, _toml
from ._errors import Interrupted, ModelError
from ._numbers import count as whole
from ._numbers import number, numbers, optional_count, text
from ._table import Table

if TYPE_CHECKING:
    from ._model import Model

Named = List[Tuple[str, float]]


class Question(NamedTuple):
    """Everything that decides the rows; it pickles."""

    model: "Model"
    lists: List[Tuple[str, List[float]]]
    product: bool
    random: Optional[Tuple[List[Tuple[str, float, float]], int, int]]
    set: Named
    start: Named
    run: List[Tuple[str, str]]
    project: bool
    columns: Optional[str]
    events: Optional[str]

    @classmethod
    def of(
        cls,
        model: "Model",
        values: Optional[Mapping[Any, Any]],
        more: Dict[str, Any],
        product: bool,
        random: Optional[Mapping[Any, Tuple[Any, Any]]],
        count: Any,
        seed: Any,
        until: Any,
        tolerance: Any,
        parameters: Optional[Mapping[Any, Any]],
        start: Optional[Mapping[Any, Any]],
        project: bool,
        columns: Optional[Sequence[str]],
        record: Optional[Sequence[str]],
    ) -> "Question":
        given = _toml.mapping(values, "values")
        twice = sorted(set(given) & set(more))
        if twice:
            raise ModelError(f"`{twice[0]}` is given twice")
        lists = [(k, numbers(v, k)) for k, v in {**given, **more}.items()]
        drawn = None
        if random is not None:
            if lists:
                raise ModelError("values are listed or drawn at random: use one of them")
            ranges = []
            for k, v in _toml.mapping(random, "random").items():
                ends = numbers(v, k)
                if len(ends) != 2:
                    raise ModelError(f"random values of `{k}` need two ends, (from, to), not {v!r}")
                ranges.append((k, ends[0], ends[1]))
            drawn = (ranges, whole(100 if count is None else count, "count", 1), whole(seed, "seed"))
        elif count is not None:
            raise ModelError("`count` says how many random trajectories: it needs `random`")
        run = [(k, repr(number(v, k))) for k, v in (("until", until), ("tolerance", tolerance)) if v is not None]
        fixed = [[(k, number(v, k)) for k, v in _toml.mapping(m, w).items()] for m, w in ((parameters, "parameters"), (start, "start"))]

        def joined(names: Optional[Sequence[str]], what: str) -> Optional[str]:
            if names is None:
                return None
            return text(names, what) if isinstance(names, str) else ",".join(text(n, what) for n in names)

        return cls(
            model, lists, bool(product), drawn, fixed[0], fixed[1], run, bool(project),
            joined(columns, "columns"), joined(record, "record"),
        )  # fmt: skip

    def ensemble(self) -> _carom.Ensemble:
        """Checked and compiled."""
        return _carom.Ensemble(self.model._native, *self[1:])


class Dataset:
    """The folder of a finished sweep: a parquet dataset, one file per chunk, in input order."""

    def __init__(self, folder: Path, files: List[Path], rows: int) -> None:
        self.folder = folder
        self.files = files
        self._rows = rows

    def __len__(self) -> int:
        return self._rows

    def to_table(self) -> Table:
        """All rows in memory."""
        return Table(_carom.Table.from_parquet([file.read_bytes() for file in self.files]))

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_table().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"<carom.Dataset {str(self.folder)!r}: {self._rows} rows in {len(self.files)} files>"


class Bar:
    """Progress on standard error, when someone looks."""

    def __init__(self, total: int, done: int, wanted: Optional[bool]) -> None:
        self._total, self._done, self._first = total, done, done
        self._begin = self._last = time.monotonic()
        self._shown = False
        self._on = sys.stderr is not None and sys.stderr.isatty() if wanted is None else bool(wanted)

    def tell(self, done: int) -> None:
        now = time.monotonic()
        if not self._on or now - self._begin < 0.5 or now - self._last < 0.2:
            return
        self._last, self._shown = now, True
        part = done / max(1, self._total)
        rate = (done - self._first) / (now - self._begin)
        left = (self._total - done) / rate if rate > 0 else float("inf")
        full = int(30 * part)
        sys.stderr.write(f"\r  {'█' * full}{'░' * (30 - full)} {done} of {self._total}  {rate:.0f} per second  {left:.0f} s left ")
        sys.stderr.flush()

    def close(self) -> None:
        if self._shown:
            sys.stderr.write("\r" + " " * 100 + "\r")
            sys.stderr.flush()


def sweep(
    question: Question, *, threads: Any, progress: Optional[bool], to: Union[None, str, "os.PathLike[str]"], chunk: Any, on: Any
) -> Any:
    """A table, or a dataset when there is a folder to write it to."""
    asked = optional_count(threads, "threads", 1)
    if asked is not None and asked > 4096:
        raise ModelError(f"`threads` must be at most 4096, not {asked}")
    size = optional_count(chunk, "chunk", 1)
    ensemble = question.ensemble()
    if to is None and on is None:
        bar = Bar(len(ensemble), 0, progress)
        try:
            return Table(ensemble.rows(0, len(ensemble), asked, bar.tell))
        except KeyboardInterrupt:
            raise Interrupted("the sweep was interrupted; with to=\"folder/\" it could go on") from None
        finally:
            bar.close()
    if to is not None:
        return _to_folder(question, ensemble, Path(os.fspath(to)), size, asked, progress, on)
    with tempfile.TemporaryDirectory(prefix="carom-sweep-") as folder:
        return _to_folder(question, ensemble, Path(folder), size, asked, progress, on).to_table()


def _to_folder(
    question: Question, ensemble: _carom.Ensemble, folder: Path, size: Optional[int], threads: Optional[int],
    progress: Optional[bool], on: Any,
) -> Dataset:  # fmt: skip
    per_chunk, chunks, missing = ensemble.open(folder, size)
    rows = len(ensemble)

    def span(index: int) -> Tuple[int, int]:
        return index * per_chunk, min(rows, (index + 1) * per_chunk)

    done = rows - sum(span(i)[1] - span(i)[0] for i in missing)
    bar = Bar(rows, done, progress)
    try:
        if on is None:
            for index in missing:
                first, last = span(index)
                base = done
                ensemble.write(folder, index, ensemble.chunk(first, last, threads, lambda n: bar.tell(base + n)))
                done += last - first
                bar.tell(done)
        else:
            tasks = [(index, *span(index)) for index in missing]
            for index, data in _submitted(on, question, str(folder.absolute()), tasks, threads):
                if data is not None:
                    ensemble.write(folder, index, data)
                done += span(index)[1] - span(index)[0]
                bar.tell(done)
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted after {done} of {rows} trajectories; the same call goes on") from None
    finally:
        bar.close()
    return Dataset(folder, [folder / f"part-{index:06}.parquet" for index in range(chunks)], rows)


_KNOWN: Dict[Any, _carom.Ensemble] = {}


def chunk(question: Question, key: str, folder: str, index: int, first: int, last: int, threads: Optional[int]) -> Tuple[int, Optional[bytes]]:
    """Simulates a chunk, in whatever process; writes it where the folder is in sight, else returns its bytes."""
    ensemble = _KNOWN.get(key)
    if ensemble is None:
        ensemble = question.ensemble()
        if ensemble.key != key:
            raise ModelError("this worker has another version or class of arithmetic than the process that asked: its rows would differ")
        _KNOWN.clear()
        _KNOWN[key] = ensemble
    target = Path(folder)
    in_sight = (target / "manifest.json").exists()
    if in_sight and (target / f"part-{index:06}.parquet").exists():
        return index, None
    data = ensemble.chunk(first, last, threads, None)
    if in_sight:
        ensemble.write(folder, index, data)
        return index, None
    return index, data


Task = Tuple[int, int, int]


def _submitted(on: Any, question: Question, folder: str, tasks: List[Task], threads: Optional[int]) -> Iterator[Tuple[int, Optional[bytes]]]:
    """Chunks as they are done, by whatever engine."""
    key = question.ensemble().key
    per_task = 1 if threads is None else threads
    module = type(on).__module__.split(".")[0]
    if getattr(on, "__name__", "") == "ray":
        return _on_ray(on, question, key, folder, tasks, per_task)
    if module == "joblib":
        import joblib

        return iter(on(joblib.delayed(chunk)(question, key, folder, *task, per_task) for task in tasks))
    if module == "distributed":
        return _on_dask(on, question, key, folder, tasks, per_task)
    if hasattr(on, "submit"):
        return _on_executor(on.submit, question, key, folder, tasks, per_task)
    raise ModelError(f"on= takes an executor, a Dask client, the module ray or a joblib.Parallel, not {type(on).__name__}")


def _on_executor(submit: Callable[..., Any], question: Question, key: str, folder: str, tasks: List[Task], threads: int) -> Iterator[Tuple[int, Optional[bytes]]]:
    from concurrent.futures import FIRST_COMPLETED, wait

    waiting = list(reversed(tasks))
    running: Any = set()
    try:
        while waiting or running:
            # A few more than there may be workers: an interrupt leaves little behind.
            while waiting and len(running) < 2 * (os.cpu_count() or 1) + 2:
                running.add(submit(chunk, question, key, folder, *waiting.pop(), threads))
            finished, running = wait(running, timeout=0.2, return_when=FIRST_COMPLETED)
            for future in finished:
                yield future.result()
    finally:
        for future in running:
            future.cancel()


def _on_dask(client: Any, question: Question, key: str, folder: str, tasks: List[Task], threads: int) -> Iterator[Tuple[int, Optional[bytes]]]:
    from distributed import as_completed

    shared = client.scatter(question, broadcast=True, hash=False)
    futures = [client.submit(chunk, shared, key, folder, *task, threads, pure=False, retries=10) for task in tasks]
    try:
        for future in as_completed(futures):
            yield future.result()
    finally:
        client.cancel(futures)


def _on_ray(ray: Any, question: Question, key: str, folder: str, tasks: List[Task], threads: int) -> Iterator[Tuple[int, Optional[bytes]]]:
    remote = ray.remote(max_retries=10)(chunk)
    shared = ray.put(question)
    running = [remote.remote(shared, key, folder, *task, threads) for task in tasks]
    try:
        while running:
            finished, running = ray.wait(running, num_returns=1)
            yield from ray.get(finished)
    finally:
        for task in running:
            ray.cancel(task)
