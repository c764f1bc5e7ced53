"""Sweeps: rows of an ensemble in memory, in a folder, on one machine or on many.

One design under all: the rows are divided into chunks by their index, the size of a chunk is measured once and written into the
folder's manifest, a chunk is a file that is written whole or not at all. Who simulates it does not matter: same bytes.
"""

from __future__ import annotations

import os
import queue
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, Generator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _carom, _toml
from ._errors import FailedChunk, Interrupted, ModelError, SweepError
from ._numbers import count as whole
from ._numbers import array, number, numbers, optional_count, text, written
from ._table import Table

if TYPE_CHECKING:
    from ._model import Model

Named = List[Tuple[str, float]]


class Question(NamedTuple):
    """Everything that decides the rows; it pickles."""

    model: "Model"
    lists: List[Tuple[str, bytes]]
    """Names and their values: doubles, eight bytes each. A million of them travel as eight million bytes."""
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
        varied = {**given, **more}
        arrays = {k: array(v, k) for k, v in varied.items()}
        if not product:
            # A number is the same in all rows.
            longest = max((len(v) for v in arrays.values()), default=0)
            arrays = {k: np.full(longest, v) if np.ndim(varied[k]) == 0 else v for k, v in arrays.items()}
        lists = [(k, v.astype("<f8", copy=False).tobytes()) for k, v in arrays.items()]
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
        run = [(k, written(number(v, k))) for k, v in (("until", until), ("tolerance", tolerance)) if v is not None]
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
        pieces = [file.read_bytes() for file in self.files]
        try:
            return Table(_carom.Table.from_parquet(pieces))
        except ValueError:
            for file, piece in zip(self.files, pieces):
                try:
                    _carom.Table.from_parquet([piece])
                except ValueError as damage:
                    why = str(damage).splitlines()[0]
                    raise ModelError(f"{file} is damaged: {why}\n  hint: remove it; the same sweep to the same folder makes it again") from None
            raise

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_table().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"<carom.Dataset {str(self.folder)!r}: {self._rows} rows in {len(self.files)} files>"


class Bar:
    """Progress on standard error, when someone looks: at a terminal or in a notebook."""

    def __init__(self, total: int, done: int, wanted: Optional[bool]) -> None:
        self._total, self._done, self._first = total, done, done
        self._begin = self._last = time.monotonic()
        self._shown = False
        seen = sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules)
        self._on = seen if wanted is None else bool(wanted)

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


# So many rows may come as one table.
_IN_MEMORY = 10**8


def sweep(
    question: Question, *, threads: Any, progress: Optional[bool], to: Union[None, str, "os.PathLike[str]"], chunk: Any, on: Any
) -> Union[Table, Dataset]:
    """A table, or a dataset when there is a folder to write it to."""
    asked = optional_count(threads, "threads", 1)
    if asked is not None and asked > 4096:
        raise ModelError(f"`threads` must be at most 4096, not {asked}")
    size = optional_count(chunk, "chunk", 1)
    if to is not None and not os.fspath(to):
        raise ModelError("`to` must be the name of a folder, not ''")
    ensemble = question.ensemble()
    if to is None and len(ensemble) > _IN_MEMORY:
        raise ModelError(f"{len(ensemble)} trajectories do not fit into memory: with to=\"folder/\" they are written as they are made")
    if to is None and on is None:
        bar = Bar(len(ensemble), 0, progress)
        try:
            rows, interrupt = ensemble.rows(0, len(ensemble), asked, bar.tell)
        finally:
            bar.close()
        table = Table(rows)
        if interrupt is None:
            return table
        if not isinstance(interrupt, KeyboardInterrupt):
            raise interrupt
        said = f"the sweep was interrupted after {len(table)} of {len(ensemble)} trajectories; with to=\"folder/\" it could go on"
        raise Interrupted(said, table=table) from None
    if to is not None:
        return _to_folder(question, ensemble, Path(os.fspath(to)), size, asked, progress, on)
    with tempfile.TemporaryDirectory(prefix="carom-sweep-") as folder:
        return _to_folder(question, ensemble, Path(folder), size, asked, progress, on).to_table()


def _to_folder(
    question: Question, ensemble: _carom.Ensemble, folder: Path, size: Optional[int], threads: Optional[int],
    progress: Optional[bool], on: Any,
) -> Dataset:  # fmt: skip
    rows = len(ensemble)
    try:
        per_chunk, chunks, missing = ensemble.open(folder, size)
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted after 0 of {rows} trajectories; the same call begins again") from None

    def span(index: int) -> Tuple[int, int]:
        return index * per_chunk, min(rows, (index + 1) * per_chunk)

    done = rows - sum(span(i)[1] - span(i)[0] for i in missing)
    bar = Bar(rows, done, progress)
    failed: Dict[int, Exception] = {}

    def made(indices: Sequence[int], seen: str) -> Answers:
        if on is None:
            return _here(ensemble, [(i, *span(i)) for i in indices], threads, lambda n: bar.tell(done + n))
        return _submitted(on, question, ensemble.key, seen, [(i, *span(i)) for i in indices], threads)

    try:
        # What a worker says it has written where nobody here can see it is made once more, and comes as bytes.
        for todo, seen in ((missing, str(folder.absolute())), (None, "")):
            if todo is None:
                todo = [i for i in ensemble.missing(folder) if i not in failed]
                done -= sum(span(i)[1] - span(i)[0] for i in todo)
            if not todo:
                continue
            # Closed at once, whatever happens: an engine takes back what it was given, and is free for others.
            with closing(made(todo, seen)) as answers:
                for index, data, error in answers:
                    if error is None and data is not None:
                        # A disk that is full is full for all that follow; another failure is this chunk's own.
                        try:
                            ensemble.write(folder, index, data)
                        except OSError:
                            raise
                        except Exception as own:
                            error = own
                    if error is not None:
                        failed[index] = error
                        continue
                    done += span(index)[1] - span(index)[0]
                    bar.tell(done)
        for index in ensemble.missing(folder):
            failed.setdefault(index, FileNotFoundError(f"its file is not in {folder}, though it was written"))
    except KeyboardInterrupt:
        # What is there counts, whoever has told of it.
        done = rows - sum(span(i)[1] - span(i)[0] for i in ensemble.missing(folder))
        raise Interrupted(f"interrupted after {done} of {rows} trajectories; the same call goes on") from None
    finally:
        bar.close()
    if failed:
        raise SweepError([_failed(ensemble, i, *span(i), failed[i]) for i in sorted(failed)], chunks)
    return Dataset(folder, [folder / f"part-{index:06}.parquet" for index in range(chunks)], rows)


def _failed(ensemble: _carom.Ensemble, index: int, first: int, last: int, error: Exception) -> FailedChunk:
    return FailedChunk(index, first, last, error, dict(ensemble.inputs(first)) if last - first == 1 else None)


_KNOWN: Dict[Any, _carom.Ensemble] = {}

Answer = Tuple[int, Optional[bytes], Optional[Exception]]
Answers = Generator[Answer, None, None]
Task = Tuple[int, int, int]
# How often a chunk is given away again after the process that had it was killed.
_ATTEMPTS = 25


def _here(ensemble: _carom.Ensemble, tasks: List[Task], threads: Optional[int], tell: Callable[[int], None]) -> Answers:
    """Chunks of this process, one after the other."""
    for index, first, last in tasks:
        try:
            answer: Answer = (index, ensemble.chunk(first, last, threads, tell), None)
        except Exception as error:
            answer = (index, None, error)
        yield answer


def chunk(question: Question, key: str, folder: str, index: int, first: int, last: int, threads: Optional[int]) -> Answer:
    """Simulates a chunk, in whatever process; writes it where the folder is in sight, else returns its bytes. What goes wrong with it is
    part of the answer, so that the others go on."""
    try:
        ensemble = _KNOWN.get(key)
        if ensemble is None:
            ensemble = question.ensemble()
            if ensemble.key != key:
                raise ModelError("this worker has another version or class of arithmetic than the process that asked: its rows would differ")
            _KNOWN.clear()
            _KNOWN[key] = ensemble
        # Another folder of that name, on another machine, may hold another sweep.
        in_sight = bool(folder) and ensemble.holds(folder)
        if in_sight and (Path(folder) / f"part-{index:06}.parquet").is_file():
            return index, None, None
        data = ensemble.chunk(first, last, threads, None)
        if in_sight:
            try:
                ensemble.write(folder, index, data)
                return index, None, None
            except OSError:
                # Who asked may be able to write it, or can say best why not.
                pass
        return index, data, None
    except Exception as error:
        return index, None, error


def _in_flight(workers: float) -> int:
    """How many chunks a cluster is given at a time: enough for all of it, and for workers that come when they see them wait. Not all of
    them, which would take minutes to hand out, and to take back."""
    return max(1000, 4 * int(workers))


def _same(question: Question) -> Question:
    """A question as the result of a task: an engine that loses it can make it again."""
    return question


def _submitted(on: Any, question: Question, key: str, folder: str, tasks: List[Task], threads: Optional[int]) -> Answers:
    """Chunks as they are done, by whatever engine."""
    per_task = 1 if threads is None else threads
    module = type(on).__module__.split(".")[0]
    if getattr(on, "__name__", "") == "ray":
        return _on_ray(on, question, key, folder, tasks, per_task)
    if module == "joblib":
        return _on_joblib(on, question, key, folder, tasks, per_task)
    if module == "distributed":
        return _on_dask(on, question, key, folder, tasks, per_task)
    if hasattr(on, "submit"):
        return _on_executor(on, question, key, folder, tasks, per_task)
    raise ModelError(f"on= takes an executor, a Dask client, the module ray or a joblib.Parallel, not {type(on).__name__}")


def _on_executor(executor: Any, question: Question, key: str, folder: str, tasks: List[Task], threads: int) -> Answers:
    from concurrent.futures import FIRST_COMPLETED, wait

    # A few more than there are workers: an interrupt leaves little behind. An executor that does not say how many it has gets all.
    workers = getattr(executor, "_max_workers", None)
    most = 2 * workers + 2 if isinstance(workers, int) else len(tasks)
    waiting = list(reversed(tasks))
    running: Dict[Any, Task] = {}
    try:
        while waiting or running:
            while waiting and len(running) < most:
                task = waiting.pop()
                try:
                    running[executor.submit(chunk, question, key, folder, *task, threads)] = task
                except Exception as error:
                    # A pool that a killed process broke takes nothing any more.
                    yield task[0], None, error
            for future in wait(running, timeout=0.2, return_when=FIRST_COMPLETED).done if running else ():
                yield _answer(running.pop(future), future.result)
    finally:
        for future in running:
            future.cancel()


def _answer(task: Task, result: Callable[[], Answer]) -> Answer:
    """What a task answered, or what became of it."""
    from concurrent.futures import CancelledError

    try:
        return result()
    # In Python 3.7 to 3.11 cancellation may be no Exception.
    except (Exception, CancelledError) as error:
        return task[0], None, error if isinstance(error, Exception) else RuntimeError(f"cancelled: {error}")


def _on_joblib(parallel: Any, question: Question, key: str, folder: str, tasks: List[Task], threads: int) -> Answers:
    import joblib

    settings = {name: getattr(parallel, name) for name in ("return_as", "return_generator", "return_ordered") if hasattr(parallel, name)}
    left = {task[0]: task for task in tasks}
    try:
        if len(settings) == 3:
            # As they are done, whatever the caller wanted to have of other tasks.
            parallel.return_as, parallel.return_generator, parallel.return_ordered = "generator_unordered", True, False
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                answers = parallel(joblib.delayed(chunk)(question, key, folder, *task, threads) for task in list(left.values()))
                try:
                    for answer in answers:
                        left.pop(answer[0], None)
                        yield answer
                finally:
                    # Before it works for others; a list needs none.
                    getattr(answers, "close", lambda: None)()
                    _forget(parallel)
                return
            except Exception as error:
                # A worker that is killed takes all others with it.
                if attempt == _ATTEMPTS:
                    for index in left:
                        yield index, None, error
    finally:
        for name, value in settings.items():
            setattr(parallel, name, value)


def _forget(parallel: Any) -> None:
    """What joblib has laid out for later when a call is interrupted it would do in the next call, and count it among its results."""
    ready = getattr(parallel, "_ready_batches", None)
    while isinstance(ready, queue.Queue) and not ready.empty():
        try:
            ready.get(block=False)
        except queue.Empty:
            return


def _on_dask(client: Any, question: Question, key: str, folder: str, tasks: List[Task], threads: int) -> Answers:
    from distributed import KilledWorker, as_completed

    # The result of a task, not data that was sent: when all workers that hold it are killed, it is made again.
    shared = client.submit(_same, question, pure=False)

    def submitted(task: Task) -> Any:
        return client.submit(chunk, shared, key, folder, *task, threads, pure=False, retries=_ATTEMPTS)

    waiting = list(reversed(tasks))
    running: Dict[Any, Tuple[Any, Task, int]] = {}
    finished = as_completed()
    most = _in_flight(sum(client.nthreads().values()))

    def give(task: Task, attempt: int) -> None:
        future = submitted(task)
        running[future.key] = (future, task, attempt)
        finished.add(future)

    try:
        while waiting or running:
            while waiting and len(running) < most:
                give(waiting.pop(), 1)
            future = next(finished)
            _, task, attempt = running.pop(future.key)
            answer = _answer(task, future.result)
            # The scheduler suspects the task; it is only unlucky, until it has been so too often.
            if isinstance(answer[2], KilledWorker) and attempt < _ATTEMPTS:
                give(task, attempt + 1)
            else:
                yield answer
    finally:
        client.cancel([future for future, _, _ in running.values()])


def _on_ray(ray: Any, question: Question, key: str, folder: str, tasks: List[Task], threads: int) -> Answers:
    remote = ray.remote(max_retries=_ATTEMPTS)(chunk)
    shared = ray.put(question)
    waiting = list(reversed(tasks))
    running: Dict[Any, Task] = {}
    most = _in_flight(ray.cluster_resources().get("CPU", 1))
    try:
        while waiting or running:
            while waiting and len(running) < most:
                task = waiting.pop()
                running[remote.remote(shared, key, folder, *task, threads)] = task
            for reference in ray.wait(list(running), num_returns=1)[0]:
                yield _answer(running.pop(reference), lambda: ray.get(reference))
    finally:
        for reference in running:
            ray.cancel(reference)
