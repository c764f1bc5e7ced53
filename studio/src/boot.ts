// What begins first: the engine is loaded and the first motion is computed while the rest of the page is still on its way.
//
//   boot.ts (small) ─▶ Worker, engine.wasm ─▶ first motion ─┐
//        └───────────▶ page.ts (editor, plots, panes) ──────┴▶ shown

import "uplot/dist/uPlot.min.css";
import "./style/page.css";
import "./style/parts.css";
import "./style/dialogs.css";
import { opening } from "./app/opening";
import { Session } from "./app/session";
import { engine } from "./engine/client";

export const session = new Session(engine());

/** The address that is being opened. */
export const entered = location.hash;

/** What it asks for, and its motion, which is on its way already. */
export const first = opening(session, entered).then((found) => {
  session.prepare(found.document, found.state.values, found.state.until);
  return found;
});
// Whoever waits for it tells what went wrong.
first.catch(() => undefined);

// This script does not wait for the document; the page needs its body.
if (document.readyState === "loading") addEventListener("DOMContentLoaded", () => void import("./page"));
else void import("./page");
