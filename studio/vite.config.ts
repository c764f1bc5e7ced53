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

/** The page and the engine are on their way while the first script is still being read. */
function early(): Plugin {
  return {
    name: "early",
    apply: "build",
    transformIndexHtml: {
      order: "post",
      handler(_, { bundle }) {
        const found = (pattern: RegExp): string[] => Object.keys(bundle ?? {}).filter((name) => pattern.test(name)).map((name) => `./${name}`);
        const link = (attrs: Record<string, string | boolean>): { tag: string; attrs: Record<string, string | boolean>; injectTo: "head" } => ({ tag: "link", attrs, injectTo: "head" });
        return [
          ...found(/engine-[^/]*\.wasm$/).map((href) => link({ rel: "preload", as: "fetch", type: "application/wasm", crossorigin: true, href })),
          ...found(/page-[^/]*\.js$/).map((href) => link({ rel: "modulepreload", crossorigin: true, href })),
        ];
      },
    },
  };
}

/** The service worker: everything of this build from its cache, nothing else at all. */
function worker(version: string, files: string[]): string {
  return `// After the first visit the studio works offline: every file of this build is answered from one cache.
const CACHE = "carom-studio-${version}";
const FILES = ${JSON.stringify(files)};
self.addEventListener("install", (e) => e.waitUntil(caches.open(CACHE).then((c) => c.addAll(FILES)).then(() => self.skipWaiting())));
// A page that is still open may ask for files of the build before this one.
self.addEventListener("activate", (e) => e.waitUntil(caches.keys().then((names) => Promise.all(names.filter((n) => n.startsWith("carom-studio-") && n !== CACHE).slice(0, -1).map((n) => caches.delete(n)))).then(() => self.clients.claim())));
// The page has two names; any other page of this origin (another studio, say) is none of ours.
const PAGE = new URL("./", location).pathname;
const isPage = (path) => path === PAGE || path === PAGE + "index.html";
const found = async (request) => (await (await caches.open(CACHE)).match(request.mode === "navigate" ? "./" : request, { ignoreSearch: true })) ?? (await caches.match(request, { ignoreSearch: true }));
self.addEventListener("fetch", (e) => {
  const url = new URL(e.request.url);
  if (e.request.method !== "GET" || url.origin !== location.origin) return;
  if (e.request.mode === "navigate" && !isPage(url.pathname)) return;
  e.respondWith(found(e.request).then((kept) => kept ?? fetch(e.request)));
});
`;
}

export default defineConfig({
  base: "./",
  build: { target: "es2022", assetsInlineLimit: 0, modulePreload: { polyfill: false }, chunkSizeWarningLimit: 900 },
  worker: { format: "es" },
  plugins: [early(), offline()],
});
