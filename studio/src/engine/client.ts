// The engine, a promise per request.
//
//   const engine = new Engine({ module, worker });
//   const { diagnostics } = await engine.ask("check", { text });
//   const reply = await engine.ask("run", { text, values }, { progress: (p) => bar(p.part) });
//
// A Worker per lane, taken when it is needed: questions about the text (check, derive, outline, …); the motion that is looked
// at; what is computed aside (the cloud, pictures of the gallery); files. So typing is answered while a long run goes on, and
// nothing that goes on aside holds up or ends the user's run. WebAssembly cannot be interrupted from outside without shared
// memory, which a static page may not have; so a question that is cancelled, hangs or traps costs its Worker: it is ended, and
// another takes its place. The module is compiled once and handed to each, so that this takes a few milliseconds.
//
// A question is overtaken by the next of its kind in its lane: one that still waits is dropped, its promise is rejected with
// `Cancelled`; one that is being answered may finish within a grace of twice what the last one took, so that a slider that is
// dragged shows motions on its way, also of models that take a while, and is ended then.

import type { FromWorker, Kind, Progress, Requests, ToWorker } from "./protocol";

/** What a Worker must be able to do; a browser's Worker can, and so can a test's. */
export interface WorkerLike {
  postMessage(message: ToWorker): void;
  terminate(): void;
  onmessage: ((event: { data: FromWorker }) => void) | null;
  onerror: ((event: unknown) => void) | null;
}

export interface EngineSettings {
  /** The compiled engine, or where to get it. */
  module: () => Promise<WebAssembly.Module>;
  /** A new Worker that runs `worker.ts`. */
  worker: () => WorkerLike;
}

export interface AskOptions {
  progress?: (progress: Progress) => void;
  /** Milliseconds after which the Worker is renewed and the promise rejected; 30 000 if absent (runs: their limit and 5 s more). */
  patience?: number;
  /** Beside what the page itself asks: neither overtakes nor waits for it. */
  aside?: boolean;
}

/** The request was overtaken by the next one of its kind, or `cancel` was called. */
export class Cancelled extends Error {}
/** The engine did not answer or broke; it has been renewed. */
export class EngineFailed extends Error {}

/** Milliseconds from its begin that an overtaken question still has: at least, and at most however long the last one took. */
const GRACE = { least: 250, most: 2000 };

/** Kinds that compute motions, within a limit of their own. */
const MOTIONS: ReadonlySet<Kind> = new Set<Kind>(["run", "sweep", "drag", "export"]);
/** Kinds of which only the last answer is wanted. */
const OVERTAKEN: ReadonlySet<Kind> = new Set<Kind>(["run", "sweep", "drag", "check", "derive", "outline", "complete", "hover"]);

type LaneName = "text" | "motions" | "aside" | "files";

function laneOf(what: Kind, options: AskOptions): LaneName {
  if (what === "export") return "files";
  if (what === "sweep" || options.aside) return "aside";
  return MOTIONS.has(what) ? "motions" : "text";
}

interface Job {
  id: number;
  what: Kind;
  ask: unknown;
  options: AskOptions;
  resolve: (answer: never) => void;
  reject: (error: Error) => void;
}

/** A Worker and the requests that wait for it, answered one at a time in order. */
class Lane {
  private worker: WorkerLike | null = null;
  private ready = false;
  /** There was no engine the last time; the next request tries again. */
  private lost = false;
  private current: Job | null = null;
  private waiting: Job[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  private grace: ReturnType<typeof setTimeout> | undefined;
  private began = 0;
  /** Milliseconds that the last answer of a kind took. */
  private readonly took = new Map<Kind, number>();

  /** A Worker is taken when there is something to ask. */
  constructor(private readonly settings: EngineSettings) {}

  add(job: Job): void {
    this.waiting.push(job);
    if (this.worker === null || this.lost) this.renew();
    else this.next();
  }

  /** The next of a kind begins. */
  overtake(what: Kind): void {
    this.cancel(what, Math.min(GRACE.most, Math.max(GRACE.least, 2 * (this.took.get(what) ?? 0))));
  }

  /** Drops requests of a kind. One that is being answered for longer than `grace` costs the Worker. */
  cancel(what: Kind, grace = 0): void {
    const overtaken = this.waiting.filter((job) => job.what === what);
    this.waiting = this.waiting.filter((job) => job.what !== what);
    overtaken.forEach((job) => job.reject(new Cancelled("overtaken")));
    const job = this.current;
    if (job?.what !== what) return;
    clearTimeout(this.grace);
    const end = () => {
      if (this.current !== job) return;
      this.renew();
      job.reject(new Cancelled("overtaken"));
    };
    const left = this.began + grace - performance.now();
    if (left > 0) this.grace = setTimeout(end, left);
    else end();
  }

  end(): void {
    clearTimeout(this.timer);
    this.worker?.terminate();
    this.worker = null;
    const all = [this.current, ...this.waiting].filter((job) => job !== null);
    this.current = null;
    this.waiting = [];
    all.forEach((job) => job.reject(new Cancelled("the engine has been closed")));
  }

  private renew(): void {
    clearTimeout(this.timer);
    this.worker?.terminate();
    this.current = null;
    this.ready = this.lost = false;
    const worker = this.settings.worker();
    this.worker = worker;
    worker.onmessage = (event) => {
      if (worker === this.worker) this.hear(event.data);
    };
    worker.onerror = () => {
      if (worker !== this.worker) return;
      // One that broke before it could begin would break again, for ever.
      if (this.ready) this.broken("the engine failed");
      else this.refuse("the engine could not be started");
    };
    this.settings.module().then(
      (module) => {
        if (worker === this.worker) worker.postMessage({ kind: "module", module });
      },
      (error: unknown) => {
        if (worker === this.worker) this.refuse(`the engine could not be loaded: ${String(error)}`);
      },
    );
  }

  private hear(message: FromWorker): void {
    if (message.kind === "ready") {
      this.ready = true;
      this.next();
      return;
    }
    const job = this.current;
    if (job === null || message.id !== job.id) return;
    switch (message.kind) {
      case "progress":
        job.options.progress?.(message.progress);
        return;
      case "answer":
        clearTimeout(this.timer);
        this.took.set(job.what, performance.now() - this.began);
        this.current = null;
        job.resolve(message.answer as never);
        break;
      case "failed":
        if (message.fatal) {
          this.broken(message.message);
          return;
        }
        clearTimeout(this.timer);
        this.current = null;
        job.reject(new EngineFailed(message.message));
        break;
    }
    this.next();
  }

  private next(): void {
    if (!this.ready || this.current !== null || this.worker === null) return;
    const job = this.waiting.shift();
    if (job === undefined) return;
    this.current = job;
    this.began = performance.now();
    const asked = (job.ask as { limits?: { seconds?: number } }).limits?.seconds ?? 10;
    const patience = job.options.patience ?? (MOTIONS.has(job.what) ? asked * 1000 + 5000 : 30_000);
    this.timer = setTimeout(() => this.broken("the engine did not answer in time and was restarted"), patience);
    this.worker.postMessage({ kind: "ask", id: job.id, what: job.what, ask: job.ask });
  }

  /** The Worker is gone: its request fails, the others go to the next one. */
  private broken(why: string): void {
    const job = this.current;
    this.renew();
    job?.reject(new EngineFailed(why));
  }

  /** There is no engine: everything fails. */
  private refuse(why: string): void {
    this.lost = true;
    const all = [this.current, ...this.waiting].filter((job) => job !== null);
    this.current = null;
    this.waiting = [];
    all.forEach((job) => job.reject(new EngineFailed(why)));
  }
}

export class Engine {
  private readonly lanes: Record<LaneName, Lane>;
  private count = 0;

  constructor(settings: EngineSettings) {
    // Compiled once, however many Workers there will be.
    let module: Promise<WebAssembly.Module> | null = null;
    const shared: EngineSettings = {
      worker: settings.worker,
      module: () => {
        module ??= settings.module().catch((error: unknown) => {
          module = null;
          throw error;
        });
        return module;
      },
    };
    this.lanes = { text: new Lane(shared), motions: new Lane(shared), aside: new Lane(shared), files: new Lane(shared) };
    // Loaded at once, whatever will be asked.
    void shared.module().catch(() => undefined);
  }

  ask<K extends Kind>(what: K, ask: Requests[K]["ask"], options: AskOptions = {}): Promise<Requests[K]["answer"]> {
    const lane = this.lanes[laneOf(what, options)];
    if (OVERTAKEN.has(what)) lane.overtake(what);
    return new Promise((resolve, reject) => {
      this.count += 1;
      lane.add({ id: this.count, what, ask, options, resolve: resolve as (answer: never) => void, reject });
    });
  }

  /** Ends what is being computed of a kind. */
  cancel(what: Kind, options: AskOptions = {}): void {
    this.lanes[laneOf(what, options)].cancel(what);
  }

  /** Ends the Workers. */
  close(): void {
    for (const lane of Object.values(this.lanes)) lane.end();
  }
}

/** The engine of the page: `engine.wasm`, which `studio/build` puts beside this file. */
export function engine(): Engine {
  return new Engine({
    module: () => WebAssembly.compileStreaming(fetch(new URL("./engine.wasm", import.meta.url))),
    worker: () => new Worker(new URL("./worker.ts", import.meta.url), { type: "module" }) as unknown as WorkerLike,
  });
}
