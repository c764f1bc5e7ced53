// After the first visit the studio works offline. Not while it is developed, and not where `carom studio` serves it: there
// a page kept from yesterday would be a mistake.

import { isServed } from "../engine/served";

export function offline(): void {
  if (!("serviceWorker" in navigator) || !isSecureContext) return;
  if (isServed()) {
    // One that another studio left at this port is sent away.
    void navigator.serviceWorker.getRegistrations().then((all) => all.forEach((r) => void r.unregister()), () => undefined);
    return;
  }
  if (!import.meta.env.PROD) return;
  void navigator.serviceWorker.register("./sw.js", { scope: "./" }).catch(() => {
    // Where it is not allowed (a private window, a file), the page works online.
  });
}
