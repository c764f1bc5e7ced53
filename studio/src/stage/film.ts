// Films of the stage: WebM by the browser's own recorder, GIF by a small writer of our own.
//
// GIF: one palette for all frames from the colours that are drawn most, runs of indices packed by LZW with codes of growing
// width (the 1989 standard).

import { say } from "../layout/dom";
import { download } from "../app/files";
import { span } from "./scene";
import type { Stage } from "./stage";

/** Frames per second, the longest film in seconds, and the widest GIF in pixels. */
const RATE = 25;
const LONGEST = 20;
const WIDEST = 560;

/** Bytes that grow. */
class Bytes {
  private parts: number[] = [];
  byte(...values: number[]): void {
    for (const v of values) this.parts.push(v & 255);
  }
  word(v: number): void {
    this.byte(v, v >> 8);
  }
  text(s: string): void {
    for (const c of s) this.byte(c.charCodeAt(0));
  }
  get array(): Uint8Array<ArrayBuffer> {
    return Uint8Array.from(this.parts);
  }
}

/** Indices packed by LZW, in blocks of at most 255 bytes. */
export function lzw(indices: Uint8Array, bits: number): number[] {
  const clear = 1 << bits;
  const out: number[] = [];
  let block: number[] = [];
  let buffer = 0;
  let held = 0;
  let width = bits + 1;
  const emit = (code: number): void => {
    buffer |= code << held;
    held += width;
    while (held >= 8) {
      block.push(buffer & 255);
      buffer >>>= 8;
      held -= 8;
      if (block.length === 255) {
        out.push(255, ...block);
        block = [];
      }
    }
  };
  let table = new Map<number, number>();
  let next = clear + 2;
  emit(clear);
  let prefix = indices[0] ?? 0;
  for (let i = 1; i < indices.length; i++) {
    const key = prefix * 256 + indices[i]!;
    const known = table.get(key);
    if (known !== undefined) {
      prefix = known;
      continue;
    }
    emit(prefix);
    if (next < 4096) {
      if (next === 1 << width) width++;
      table.set(key, next++);
    } else {
      emit(clear);
      table = new Map();
      next = clear + 2;
      width = bits + 1;
    }
    prefix = indices[i]!;
  }
  emit(prefix);
  emit(clear + 1);
  if (held > 0) block.push(buffer & 255);
  if (block.length) out.push(block.length, ...block);
  out.push(0);
  return out;
}

/** The colours drawn most, at five bits each, and a table from those to their place. */
function palette(count: Uint32Array): { colours: number[]; place: Uint8Array } {
  const order = [...count.keys()].filter((k) => count[k]! > 0).sort((a, b) => count[b]! - count[a]!);
  const colours = order.slice(0, 256);
  const parts = (k: number): [number, number, number] => [k >> 10, (k >> 5) & 31, k & 31];
  const place = new Uint8Array(32768);
  for (const k of order) {
    const [r, g, b] = parts(k);
    let best = Infinity;
    colours.forEach((c, i) => {
      const [x, y, z] = parts(c);
      const d = (r - x) ** 2 + (g - y) ** 2 + (b - z) ** 2;
      if (d < best) [best, place[k]] = [d, i];
    });
  }
  return { colours, place };
}

/** The place of a pixel's colour among all colours of five bits each. */
const coarse = (data: Uint8ClampedArray, p: number): number => ((data[p]! >> 3) << 10) | ((data[p + 1]! >> 3) << 5) | (data[p + 2]! >> 3);
/** The page lives on between pieces of work. */
const breathe = (): Promise<void> => new Promise((done) => setTimeout(done));

/** Frames as a GIF that repeats for ever. Each is drawn twice, for its colours and for itself, so that none has to be kept. */
export async function gif(frame: (i: number) => ImageData, frames: number, rate: number): Promise<Uint8Array<ArrayBuffer>> {
  const { width, height } = frame(0);
  const count = new Uint32Array(32768);
  for (let i = 0; i < frames; i++) {
    const { data } = frame(i);
    for (let p = 0; p < data.length; p += 4) count[coarse(data, p)]!++;
    if (i % 4 === 0) await breathe();
  }
  const { colours, place } = palette(count);
  const out = new Bytes();
  out.text("GIF89a");
  out.word(width);
  out.word(height);
  out.byte(0xf7, 0, 0);
  for (let i = 0; i < 256; i++) {
    const c = colours[i] ?? 0;
    // Five bits become eight with white staying white.
    for (const v of [c >> 10, (c >> 5) & 31, c & 31]) out.byte((v << 3) | (v >> 2));
  }
  out.byte(0x21, 0xff, 11);
  out.text("NETSCAPE2.0");
  out.byte(3, 1, 0, 0, 0);
  const indices = new Uint8Array(width * height);
  for (let i = 0; i < frames; i++) {
    const { data } = frame(i);
    out.byte(0x21, 0xf9, 4, 0);
    out.word(Math.round(100 / rate));
    out.byte(0, 0, 0x2c);
    for (const v of [0, 0, width, height]) out.word(v);
    out.byte(0, 8);
    for (let k = 0, p = 0; k < indices.length; k++, p += 4) indices[k] = place[coarse(data, p)]!;
    for (const b of lzw(indices, 8)) out.byte(b);
    if (i % 4 === 0) await breathe();
  }
  out.byte(0x3b);
  return out.array;
}

/** Times of the frames: the whole motion at the chosen speed, or as much as a film may last. */
function times(stage: Stage): number[] {
  const scene = stage.player.scene.value;
  if (!scene) return [];
  const [from, to] = span(scene);
  const speed = Math.max(stage.player.speed.value, (to - from) / LONGEST);
  const n = Math.max(2, Math.ceil(((to - from) / speed) * RATE));
  return Array.from({ length: n }, (_, i) => from + ((to - from) * i) / (n - 1));
}

/** The stage at a time, on its paper: a film has no page behind it. */
function paint(stage: Stage, c: CanvasRenderingContext2D, ratio: number, time: number): void {
  stage.draw(time, c, ratio);
  c.globalCompositeOperation = "destination-over";
  c.setTransform(1, 0, 0, 1, 0, 0);
  c.fillStyle = stage.paper;
  c.fillRect(0, 0, c.canvas.width, c.canvas.height);
  c.globalCompositeOperation = "source-over";
}

/** Records the motion as a GIF and hands it to the browser. */
export async function recordGif(stage: Stage, name: string): Promise<void> {
  const { width, height } = stage.pixels;
  const ratio = Math.min(1, WIDEST / width);
  const canvas = new OffscreenCanvas(Math.round(width * ratio), Math.round(height * ratio));
  const c = canvas.getContext("2d", { willReadFrequently: true }) as unknown as CanvasRenderingContext2D;
  const all = times(stage).filter((_, i) => i % 2 === 0);
  if (!all.length) return;
  say("Recording…");
  const frame = (i: number): ImageData => {
    paint(stage, c, ratio, all[i]!);
    return c.getImageData(0, 0, canvas.width, canvas.height);
  };
  download(`${name}.gif`, "image/gif", await gif(frame, all.length, RATE / 2));
  say(`Saved ${name}.gif`);
}

/** Records one pass of the motion as WebM. The browser's recorder goes by the clock, so this lasts as long as the film. */
export async function recordWebm(stage: Stage, name: string): Promise<void> {
  if (typeof MediaRecorder === "undefined" || !MediaRecorder.isTypeSupported("video/webm")) {
    say("This browser cannot record WebM; GIF works everywhere");
    return;
  }
  const all = times(stage);
  if (!all.length) return;
  const { width, height, ratio } = stage.pixels;
  // Even sides: colours of films are kept for two by two pixels.
  const canvas = Object.assign(document.createElement("canvas"), { width: 2 * Math.round((width * ratio) / 2), height: 2 * Math.round((height * ratio) / 2) });
  const c = canvas.getContext("2d")!;
  const stream = canvas.captureStream(0);
  // Chromium gives frames by the track, Firefox by the stream.
  const [track] = stream.getVideoTracks() as CanvasCaptureMediaStreamTrack[];
  const source = (typeof track?.requestFrame === "function" ? track : stream) as CanvasCaptureMediaStreamTrack;
  const recorder = new MediaRecorder(stream, { mimeType: "video/webm", videoBitsPerSecond: 6_000_000 });
  const parts: Blob[] = [];
  recorder.addEventListener("dataavailable", (e) => parts.push(e.data));
  const stopped = new Promise((done) => recorder.addEventListener("stop", done));
  say(`Recording for ${Math.ceil(all.length / RATE)} seconds…`);
  recorder.start();
  const began = performance.now();
  for (const [i, t] of all.entries()) {
    paint(stage, c, ratio, t);
    source.requestFrame();
    const next = began + ((i + 1) * 1000) / RATE;
    await new Promise((done) => setTimeout(done, Math.max(0, next - performance.now())));
  }
  recorder.stop();
  await stopped;
  track?.stop();
  download(`${name}.webm`, "video/webm", new Blob(parts));
  say(`Saved ${name}.webm`);
}
