// How the studio is built: one page, its Worker, and a service worker that knows every file of the build.

import { createHash } from "node:crypto";
import { defineConfig, type Plugin } from "vite";

/** Writes `sw.js` with the list of files of this build; its name of the cache changes when any of them does. */
function offline(): Plugin {
  return {
    name: "offline",
    apply: "build",
    enforce: "post",
    generateBundle(_, bundle) {
      const files = ["./", ...Object.keys(bundle).filter((f) => f !== "index.html" && !f.endsWith(".map")), "icon.svg", "manifest.webmanifest"].sort();
      const hash = createHash("sha256");
      for (const name of Object.keys(bundle).sort()) {
        const part = bundle[name]!;
        hash.update(name).update(part.type === "chunk" ? part.code : part.source);
      }
      this.emitFile({ type: "asset", fileName: "sw.js", source: worker(hash.digest("hex").slice(0, 16), files) });
    },
  };
}

/** The service worker: everything of this build from its cache, nothing else at all. */
function worker(version: string, files: string[]): string {
  return `// After the first visit the studio works offline: every file of this build is answered from one cache.
const CACHE = "carom-studio-${version}";
const FILES = ${JSON.stringify(files)};
self.addEventListener("install", (e) => e.waitUntil(caches.open(CACHE).then((c) => c.addAll(FILES)).then(() => self.skipWaiting())));
self.addEventListener("activate", (e) => e.waitUntil(caches.keys().then((names) => Promise.all(names.filter((n) => n.startsWith("carom-studio-") && n !== CACHE).map((n) => caches.delete(n)))).then(() => self.clients.claim())));
self.addEventListener("fetch", (e) => {
  const url = new URL(e.request.url);
  if (e.request.method !== "GET" || url.origin !== location.origin) return;
  e.respondWith(caches.open(CACHE).then((c) => c.match(e.request.mode === "navigate" ? "./" : e.request, { ignoreSearch: true })).then((found) => found ?? fetch(e.request)));
});
`;
}

export default defineConfig({
  base: "./",
  build: { target: "es2022", assetsInlineLimit: 0, modulePreload: { polyfill: false }, chunkSizeWarningLimit: 900 },
  worker: { format: "es" },
  plugins: [offline()],
});
