// A browser on the built studio, as the tests use it: a plain static server on loopback, Debian's Chromium, and a record of
// everything that must not happen: errors in the console, requests to another origin.
//
//   node --test --test-concurrency=1 studio/test/*.test.mjs       after bash studio/build
//   CAROM_TIMING=1                                               durations are held to their limits (a quiet machine)
//   CAROM_CHROMIUM=/path/to/chromium                              another browser

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { existsSync, readFileSync } from "node:fs";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { deflateRawSync } from "node:zlib";
import { chromium } from "playwright-core";

export const DIST = fileURLToPath(new URL("../dist/", import.meta.url));
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".wasm": "application/wasm", ".webmanifest": "application/manifest+json", ".json": "application/json" };

/** Serves the build, nothing else. */
export async function serve() {
  assert.ok(existsSync(join(DIST, "index.html")), "the studio is not built: bash studio/build");
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, "http://x").pathname));
    const file = join(DIST, path.endsWith("/") ? `${path}index.html` : path);
    if (!file.startsWith(DIST) || !existsSync(file)) {
      response.statusCode = 404;
      response.end("not here");
      return;
    }
    response.setHeader("Content-Type", TYPES[extname(file)] ?? "application/octet-stream");
    response.setHeader("Cache-Control", "no-cache");
    response.end(readFileSync(file));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { origin: `http://127.0.0.1:${server.address().port}`, close: () => new Promise((done) => { server.closeAllConnections(); server.close(done); }) };
}

/** A browser with a server; `close` ends both. */
export async function start() {
  const served = await serve();
  const browser = await chromium.launch({ executablePath: process.env.CAROM_CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
  return { ...served, browser, close: async () => { await browser.close(); await served.close(); } };
}

export const DESK = { viewport: { width: 1440, height: 900 } };
export const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true };

/** A page of the studio that has shown its first motion. What went wrong in it is in `page.wrong`. */
export async function open(studio, { hash = "", options = DESK, wait = true, still = true } = {}) {
  const context = await studio.browser.newContext({ reducedMotion: still ? "reduce" : "no-preference", colorScheme: "light", permissions: ["clipboard-read", "clipboard-write"], ...options });
  const page = await context.newPage();
  page.wrong = [];
  page.on("console", (m) => { if (m.type() === "error" || m.type() === "warning") page.wrong.push(`${m.type()}: ${m.text()}`); });
  page.on("pageerror", (e) => page.wrong.push(`uncaught: ${e.message}`));
  page.on("dialog", (d) => { page.wrong.push(`dialog: ${d.message()}`); void d.dismiss(); });
  page.on("request", (r) => { if (!r.url().startsWith(studio.origin) && !/^(blob|data):/.test(r.url())) page.wrong.push(`another origin: ${r.url()}`); });
  await page.goto(`${studio.origin}/${hash}`);
  if (wait) await shown(page);
  return page;
}

/** Waits for a motion, the one after `serial` if given, and for the text to be understood. */
export async function shown(page, serial = 0) {
  await page.waitForFunction((n) => Number(document.body.dataset.serial ?? 0) > n && globalThis.carom.session.outline.value, serial, { timeout: 30_000 });
}

export const serial = (page) => page.evaluate(() => Number(document.body.dataset.serial ?? 0));

/** A link that holds this, made without the studio's own code. */
export const link = (state) => `#s=${deflateRawSync(Buffer.from(typeof state === "string" ? state : JSON.stringify(state)), { level: 9 }).toString("base64url")}`;

export const median = (all) => [...all].sort((a, b) => a - b)[Math.floor(all.length / 2)];
export const percentile = (all, p) => [...all].sort((a, b) => a - b)[Math.min(all.length - 1, Math.floor(p * all.length))];

/** Nothing went wrong in the page. */
export function quiet(page) {
  assert.deepEqual(page.wrong, []);
}

/** The best of up to three attempts at a time in milliseconds: other work on the machine only ever makes it longer. */
export async function quickest(limit, attempt) {
  let best = Infinity;
  for (let i = 0; i < 3 && !(best < limit); i++) best = Math.min(best, await attempt());
  return best;
}

/// Holds a duration to its limit where CAROM_TIMING=1 says that the machine is quiet; elsewhere it is only told: clocks of a
/// busy machine say nothing about the page.
export function within(t, milliseconds, most) {
  assert.ok(Number.isFinite(milliseconds) && milliseconds >= 0, `${milliseconds} ms`);
  if (process.env.CAROM_TIMING === "1") assert.ok(milliseconds <= most, `${milliseconds} ms, at most ${most} ms`);
  else t.diagnostic(`${milliseconds.toFixed(1)} ms; the limit of ${most} ms is held with CAROM_TIMING=1`);
}
