// The font of the formulas: the one of carom's own reports.
//
// Browsers typeset MathML well only with a font made for mathematics, and many systems have none. The engine carries what
// reports can need of one; the page asks for it once, when there are formulas. Without it the system's font is used.

import type { Session } from "../app/session";

export function mathFont(session: Session): void {
  const stop = session.sections.listen(() => {
    stop();
    void (async () => {
      try {
        const { bytes } = await session.engine.ask("font", {});
        document.fonts.add(await new FontFace("carom-math", bytes as BufferSource).load());
      } catch {
        // A font is a courtesy: without it formulas stay readable.
      }
    })();
  });
}
