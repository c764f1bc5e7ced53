// What a page opens with: the state in its address, the file that `carom studio` serves, a model of the gallery by its name, or
// the first model.
//
// A page that was reloaded with a served file: what was typed is kept; a text that was not touched is read from the disk anew.

import FIRST from "../../../models/double_pendulum_wall.toml?raw";
import { isServed, readServed, type ServedModel } from "../engine/served";
import { BadLink, unpack, type State } from "./link";
import { tidy, type Document, type Session } from "./session";

/** The model that a first visit shows. */
const FIRST_MODEL = "double_pendulum_wall";

export interface Opening {
  document: Document;
  /** What else the address holds. */
  state: Omit<State, "file" | "text" | "tables" | "crlf">;
  /** The part of the address that was read, if it held a state. */
  packed: string | null;
  /** A sentence for the reader. */
  said: string | null;
}

/** The file that is served, as a document; null if there is none. */
export async function servedDocument(): Promise<Document | null> {
  return isServed() ? documentOf(await readServed()) : null;
}

function documentOf(model: ServedModel): Document | null {
  if (model.text === null) return null;
  const { file, text, tables, version } = model;
  const document = tidy({ file, text, tables });
  return version === null ? document : { ...document, disk: { text: document.text, version } };
}

/** What the part `hash` of an address asks for: the address itself may be written anew while this is found out. */
export async function opening(session: Session, hash: string): Promise<Opening> {
  const packed = /^#s=([\w-]+)$/.exec(hash)?.[1] ?? null;
  let said: string | null = null;
  const served = await servedDocument();
  if (packed) {
    try {
      const { file, text, tables = {}, crlf, ...state } = await unpack(packed);
      const linked = { file, text, tables, ...(crlf ? { crlf } : {}) };
      if (served?.disk === undefined || state.disk === undefined || served.file !== file) return { document: linked, state, packed, said };
      if (!state.typed) return { document: { ...served, tables: { ...tables, ...served.tables } }, state, packed, said };
      // What was typed was made from what was read then: writing it over anything else asks first.
      const { disk } = state;
      if (disk !== served.disk.version) said = `${file} has changed on the disk since it was read here; "Files" reads it again`;
      return { document: { ...linked, disk: { text: served.disk.text, version: disk }, tables: { ...tables, ...served.tables } }, state, packed, said };
    } catch (error) {
      said = error instanceof BadLink ? error.message : "This link cannot be read";
    }
  }
  if (served) return { document: served, state: {}, packed: null, said };
  const asked = /^#model=([\w-]+)$/.exec(hash)?.[1] ?? FIRST_MODEL;
  let text = FIRST;
  let name = FIRST_MODEL;
  if (asked !== FIRST_MODEL) {
    const entry = (await session.engine.ask("gallery", {})).find((e) => e.name === asked);
    if (entry) ({ text, name } = entry);
    else said = `There is no model ${asked} in the gallery`;
  }
  return { document: { file: `${name}.toml`, text, tables: {} }, state: {}, packed: null, said };
}
