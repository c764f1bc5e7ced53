// The font of the formulas: the one of carom's own reports, cut down to the characters of this derivation.
//
// Browsers typeset MathML well only with a font made for mathematics, and many systems have none. The engine carries one and
// puts its part into every report; the page takes it from there, once the derivation has settled. Without it the system's
// font is used.

import { debounced } from "../app/cell";
import type { Session } from "../app/session";

/** Milliseconds of silence after which a derivation has settled. */
const SETTLED = 700;

export function mathFont(session: Session): void {
  let known = new Set<string>();
  let face: FontFace | null = null;
  const fetchFont = debounced(() => void (async () => {
    const characters = new Set(JSON.stringify(session.sections.value));
    if ([...characters].every((c) => known.has(c))) return;
    try {
      const reply = await session.engine.ask("export", { ...session.input({}), as: "report_html" });
      if (!reply.ok) return;
      const data = /url\(data:font\/woff;base64,([A-Za-z0-9+/=]+)\)/.exec(new TextDecoder().decode(reply.bytes))?.[1];
      if (!data) return;
      const next = await new FontFace("carom-math", Uint8Array.from(atob(data), (c) => c.charCodeAt(0))).load();
      document.fonts.add(next);
      if (face) document.fonts.delete(face);
      face = next;
      known = characters;
    } catch {
      // A font is a courtesy: without it formulas stay readable.
    }
  })(), SETTLED);
  session.sections.listen(() => fetchFont.ask());
}
