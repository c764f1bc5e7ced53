// One instance of the engine: the C interface of `crates/carom-web/src/door.rs`, spoken in typed arrays.
//
// A question is a name and JSON; an answer is JSON and buffers, which stand in the JSON as {"f64": k}, {"f32": k} or {"bytes": k}.
// Everything is copied out before the engine may use its memory again.

import type { About, Column, Kind, Progress, Requests, Scene } from "./protocol";

interface Exports {
  memory: WebAssembly.Memory;
  carom_take(length: number): number;
  carom_ask(what: number, whatLength: number, ask: number, askLength: number): number;
  carom_done(): void;
}

export interface InstanceHost {
  /** How far it is; false ends the motion, which is then a result. */
  progress?: (progress: Progress) => boolean;
}

/** The question could not be answered; the instance is as good as before. */
export class Refused extends Error {}
/** The instance trapped: it must not be used again. */
export class Trapped extends Error {}

/** After an answer, more memory than this is not kept: the instance is thrown away and made anew. */
export const MOST_KEPT = 256 * 1024 * 1024;

type Buffered = { f64: number } | { f32: number } | { bytes: number };

export class Instance {
  private exports: Exports | null = null;
  private said = "";
  host: InstanceHost = {};

  constructor(private readonly module: WebAssembly.Module) {}

  /** Bytes of linear memory. */
  get memory(): number {
    return this.exports?.memory.buffer.byteLength ?? 0;
  }

  private start(): Exports {
    if (this.exports !== null) return this.exports;
    const imports = {
      env: {
        carom_now: () => performance.now() / 1000,
        carom_progress: (from: number, time: number, until: number, steps: number, impacts: number, part: number) =>
          (this.host.progress?.({ from, time, until, steps, impacts, part }) ?? true) ? 1 : 0,
        carom_say: (at: number, length: number) => {
          const memory = this.exports?.memory.buffer;
          this.said = memory === undefined ? "" : new TextDecoder().decode(new Uint8Array(memory, at, length));
        },
      },
    };
    const instance = new WebAssembly.Instance(this.module, imports);
    this.exports = instance.exports as unknown as Exports;
    return this.exports;
  }

  /** Answers a question, or throws `Refused` or `Trapped`. */
  ask<K extends Kind>(what: K, ask: Requests[K]["ask"]): Requests[K]["answer"] {
    let answered: { failed: boolean; json: string; buffers: Uint8Array[] };
    try {
      answered = this.call(what, JSON.stringify(ask, (_, value) => (typeof value === "string" ? whole(value) : value)));
    } catch (error) {
      // A trap, or the stack was not deep enough: what is in memory is not to be trusted any more.
      this.exports = null;
      const why = this.said === "" ? String(error) : this.said;
      this.said = "";
      throw new Trapped(why);
    }
    const memory = this.memory;
    if (memory > MOST_KEPT) this.exports = null;
    if (answered.failed) throw new Refused(answered.json);
    return dress(what, JSON.parse(answered.json), answered.buffers, memory) as Requests[K]["answer"];
  }

  private call(what: string, ask: string): { failed: boolean; json: string; buffers: Uint8Array[] } {
    const engine = this.start();
    const put = (text: string): [number, number] => {
      const bytes = new TextEncoder().encode(text);
      const at = engine.carom_take(bytes.length);
      new Uint8Array(engine.memory.buffer, at, bytes.length).set(bytes);
      return [at, bytes.length];
    };
    const answer = engine.carom_ask(...put(what), ...put(ask));
    const head = new Uint32Array(engine.memory.buffer, answer, 4);
    const [failed, jsonAt, jsonLength, count] = head as unknown as [number, number, number, number];
    const json = new TextDecoder().decode(new Uint8Array(engine.memory.buffer, jsonAt, jsonLength));
    const places = new Uint32Array(engine.memory.buffer, answer + 16, 2 * count);
    const buffers: Uint8Array[] = [];
    for (let k = 0; k < count; k += 1) {
      // A copy of its own, to be given away.
      buffers.push(new Uint8Array(engine.memory.buffer, places[2 * k], places[2 * k + 1]).slice());
    }
    engine.carom_done();
    return { failed: failed !== 0, json, buffers };
  }
}

/** Text that bytes can say: half of a pair of UTF-16 units, which a damaged file or link may hold, is a mark as long as it was. */
const whole = (text: string): string => text.replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, "\uFFFD");

/** Puts arrays where the JSON only says which. */
function dress(what: Kind, answer: unknown, buffers: Uint8Array[], memory: number): unknown {
  const f64 = (value: unknown) => new Float64Array(buffers[(value as { f64: number }).f64]!.buffer);
  const f32 = (value: unknown) => new Float32Array(buffers[(value as { f32: number }).f32]!.buffer);
  switch (what) {
    case "about":
      (answer as About).memory = memory;
      break;
    case "run": {
      const run = answer as { columns: (Column & { values: unknown })[]; scene: Scene | null };
      for (const column of run.columns) column.values = f64(column.values);
      if (run.scene !== null) run.scene = scene(run.scene as unknown as CodedScene);
      break;
    }
    case "sweep": {
      const sweep = answer as Requests["sweep"]["answer"];
      if (!sweep.ok) {
        sweep.time = new Float64Array();
        break;
      }
      sweep.time = f64(sweep.time);
      for (const column of sweep.columns) column.values = f64(column.values);
      for (const point of sweep.points) point.data = f32(point.data);
      break;
    }
    case "export":
    case "font": {
      const file = answer as { bytes: unknown };
      file.bytes = buffers[(file.bytes as Buffered & { bytes: number }).bytes];
      break;
    }
  }
  return answer;
}

/** A scene whose numbers are still base64. */
type CodedScene = Record<string, unknown> & {
  time: string;
  columns: { data: string }[];
  points: { data: string[]; angle: string | null }[];
  fills: { turned: string[] }[];
  surfaces: string[];
  walls: { times: string; frames: string[][] }[];
};

/** The numbers of a scene as arrays. */
export function scene(coded: CodedScene): Scene {
  return {
    ...coded,
    time: doubles(coded.time),
    columns: coded.columns.map((c) => ({ ...c, data: doubles(c.data) })),
    points: coded.points.map((p) => ({ ...p, data: p.data.map(floats), angle: p.angle === null ? null : floats(p.angle) })),
    fills: coded.fills.map((f) => ({ ...f, turned: f.turned.map(floats) })),
    surfaces: coded.surfaces.map(floats),
    walls: coded.walls.map((w) => ({ ...w, times: doubles(w.times), frames: w.frames.map((f) => f.map(floats)) })),
  } as unknown as Scene;
}

function bytes(text: string): ArrayBuffer {
  const letters = atob(text);
  const out = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i += 1) out[i] = letters.charCodeAt(i);
  return out.buffer;
}
const doubles = (text: string) => new Float64Array(bytes(text));
const floats = (text: string) => new Float32Array(bytes(text));
