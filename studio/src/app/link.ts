// The whole state of the studio in the address: JSON, deflated, base64 for addresses.
//
// A link may come from anyone. What it can hold is a model, numbers and a layout; every part is looked at before it is used,
// and a text that unpacks to more than `MOST_STATE` is not read to its end. Nothing in it can do more than be simulated
// within limits.

import { isLayout, PANES, type Layout, type PaneName } from "../layout/panes";
import type { Request } from "../plots/signals";

/** What a link carries. */
export interface State {
  file: string;
  text: string;
  tables?: Record<string, string>;
  values?: Record<string, number>;
  until?: number;
  time?: number;
  layout?: Layout;
  front?: PaneName;
  plots?: Request[];
  lesson?: number;
  /** The lines of its file end in \r\n. */
  crlf?: boolean;
  /** The mark of the file on the disk that the text was made from, where `carom studio` serves it, and whether it was typed in
   *  since; of no use elsewhere. */
  disk?: string;
  typed?: boolean;
  /** How fast it plays, and how space is looked at. */
  speed?: number;
  turn?: [about: number, above: number];
  /** The part of the time that plots show. */
  zoom?: [number, number];
  /** What stands beside the motion: the values it is compared with, the ghost, the cloud. */
  compare?: Record<string, number>;
  ghost?: boolean;
  cloud?: boolean;
}

/** Characters of a link, and characters that it may unpack to. */
export const MOST_LINK = 400_000;
export const MOST_STATE = 2_000_000;

/** A link that cannot be read, with what to do. */
export class BadLink extends Error {}

async function all(stream: ReadableStream<Uint8Array>, most: number): Promise<Uint8Array> {
  const reader = stream.getReader();
  const parts: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > most) {
      void reader.cancel();
      throw new BadLink("This link unpacks to more than a model can be; it was not opened.");
    }
    parts.push(value);
  }
  const out = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** The state as text for an address; without its tables where they are too long for one. */
export async function pack(state: State): Promise<{ text: string; whole: boolean }> {
  const text = await packed(state);
  if (text.length <= MOST_LINK && JSON.stringify(state).length <= MOST_STATE) return { text, whole: true };
  const { tables: _, ...rest } = state;
  return { text: await packed(rest), whole: false };
}

async function packed(state: State): Promise<string> {
  const bytes = await all(new Blob([JSON.stringify(state)]).stream().pipeThrough(new CompressionStream("deflate-raw")), Infinity);
  let raw = "";
  for (let i = 0; i < bytes.length; i += 0x8000) raw += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(raw).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The state in the text of an address. */
export async function unpack(text: string): Promise<State> {
  if (text.length > MOST_LINK) throw new BadLink("This link is too long; it was not opened.");
  let json: unknown;
  try {
    const raw = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(raw, (c) => c.charCodeAt(0));
    json = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(await all(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")), MOST_STATE)));
  } catch (error) {
    throw error instanceof BadLink ? error : new BadLink("This link is damaged: it may have been cut when it was copied.");
  }
  return accept(json);
}

const isText = (v: unknown): v is string => typeof v === "string";
const isNumber = (v: unknown): v is number => typeof v === "number" && Number.isFinite(v);
const isPair = (v: unknown): v is [number, number] => Array.isArray(v) && v.length === 2 && v.every(isNumber);
const isRecord = (v: unknown): v is Record<string, unknown> => typeof v === "object" && v !== null && !Array.isArray(v);

/** Only what has the right shape; names such as `__proto__` cannot be keys of what is made. */
export function accept(json: unknown): State {
  if (!isRecord(json) || !isText(json["text"])) throw new BadLink("This link holds no model.");
  const entries = <T>(v: unknown, fits: (x: unknown) => x is T): Record<string, T> => Object.assign(Object.create(null) as Record<string, T>, isRecord(v) ? Object.fromEntries(Object.entries(v).filter((e): e is [string, T] => fits(e[1]) && e[0] !== "__proto__").slice(0, 200)) : {});
  const file = isText(json["file"]) && /^[^/\\\0]{1,100}$/.test(json["file"]) ? json["file"] : "model.toml";
  const state: State = { file, text: json["text"], values: { ...entries(json["values"], isNumber) }, tables: { ...entries(json["tables"], isText) } };
  if (isNumber(json["until"])) state.until = json["until"];
  if (isNumber(json["time"])) state.time = json["time"];
  if (isLayout(json["layout"])) state.layout = json["layout"];
  if (PANES.includes(json["front"] as PaneName)) state.front = json["front"] as PaneName;
  if (isNumber(json["lesson"])) state.lesson = json["lesson"];
  if (json["crlf"] === true) state.crlf = true;
  if (isText(json["disk"]) && json["disk"].length <= 64) state.disk = json["disk"];
  if (json["typed"] === true) state.typed = true;
  if (isNumber(json["speed"]) && json["speed"] > 0 && json["speed"] < 1e6) state.speed = json["speed"];
  if (isPair(json["turn"])) state.turn = [json["turn"][0], Math.min(1.55, Math.max(-1.55, json["turn"][1]))];
  if (isPair(json["zoom"]) && json["zoom"][0] < json["zoom"][1]) state.zoom = json["zoom"];
  if (isRecord(json["compare"])) state.compare = { ...entries(json["compare"], isNumber) };
  if (json["ghost"] === true) state.ghost = true;
  if (json["cloud"] === true) state.cloud = true;
  if (Array.isArray(json["plots"])) state.plots = json["plots"].slice(0, 12).filter(isRequest);
  return state;
}

function isRequest(v: unknown): v is Request {
  if (!isRecord(v)) return false;
  if (v["kind"] === "time") return isText(v["title"]) && Array.isArray(v["names"]) && v["names"].length <= 20 && v["names"].every(isText);
  if (v["kind"] === "plane") return isText(v["x"]) && isText(v["y"]);
  return v["kind"] === "section" && isText(v["x"]) && isText(v["y"]) && isText(v["event"]);
}
