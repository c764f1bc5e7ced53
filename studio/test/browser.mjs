// A browser on the built studio, as the tests use it: a plain static server on loopback, Debian's Chromium, and a record of
// everything that must not happen: errors in the console, requests to another origin.
//
//   node --test --test-concurrency=1 studio/test/*.test.mjs       after bash studio/build
//   CAROM_TIMING=1                                               durations are held to their limits (a quiet machine)
//   CAROM_CHROMIUM=/path/to/chromium                              another browser

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { deflateRawSync } from "node:zlib";
import { chromium } from "playwright-core";

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));
export const DIST = join(ROOT, "studio/dist/");

/** A program that prints its address and serves until it is ended. One that ends before that is told with what it said. */
export async function listening(program, args, options = {}) {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (words) => { said = `${said}${words}`.slice(-4000); });
  const ended = new Promise((done, fail) => child.once("close", done).once("error", fail));
  const early = ended.then((code) => { throw new Error(`${program} ${args.join(" ")} ended with ${code}\n${said}`); });
  const address = await Promise.race([new Promise((done) => createInterface(child.stdout).once("line", done)), early]);
  early.catch(() => {});
  return { address, child, close: async (signal = "SIGTERM") => { child.kill(signal); return ended; } };
}

/** Serves the build as anyone would: bash studio/serve. */
export async function serve() {
  assert.ok(existsSync(join(DIST, "index.html")), "the studio is not built: bash studio/build");
  const { address, close } = await listening("bash", [join(ROOT, "studio/serve"), "0"]);
  return { origin: address.replace(/\/$/, ""), close };
}

/** A browser without anything of its own: no updates, no second transport, a new profile. */
export const launch = () => chromium.launch({ executablePath: process.env.CAROM_CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"] });

/** A browser with a server; `close` ends both. */
export async function start() {
  const served = await serve();
  const browser = await launch();
  return { ...served, browser, close: async () => { await browser.close(); await served.close(); } };
}

export const DESK = { viewport: { width: 1440, height: 900 } };
export const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true };

/** A page of the studio that has shown its first motion. What went wrong in it is in `page.wrong`. */
export async function open(studio, { hash = "", options = DESK, wait = true, still = true, at = `${studio.origin}/${hash}` } = {}) {
  const context = await studio.browser.newContext({ reducedMotion: still ? "reduce" : "no-preference", colorScheme: "light", permissions: ["clipboard-read", "clipboard-write"], ...options });
  const page = await context.newPage();
  page.wrong = [];
  page.on("console", (m) => { if (m.type() === "error" || m.type() === "warning") page.wrong.push(`${m.type()}: ${m.text()}`); });
  page.on("pageerror", (e) => page.wrong.push(`uncaught: ${e.message}`));
  page.on("dialog", (d) => { if (page.answers?.length) { const yes = page.answers.shift(); return void (yes ? d.accept() : d.dismiss()); } page.wrong.push(`dialog: ${d.message()}`); void d.dismiss(); });
  page.on("request", (r) => { if (!r.url().startsWith(studio.origin) && !/^(blob|data):/.test(r.url())) page.wrong.push(`another origin: ${r.url()}`); });
  await page.goto(at);
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

/** Drops files onto the page. */
export const drop = (page, files) => page.evaluate((all) => {
  const data = new DataTransfer();
  for (const [name, text] of Object.entries(all)) data.items.add(new File([text], name));
  window.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}, files);

/** Waits for a sentence. */
export const said = (page, words) => page.waitForFunction((w) => document.querySelector(".toast.shown")?.textContent.includes(w), words);

/** The list of completions stands still for as long as a person takes to see it: before that the editor takes Enter as a new line. */
export const offered = async (page) => {
  await page.waitForFunction(() => new Promise((done) => {
    const words = () => document.querySelector(".cm-tooltip-autocomplete ul")?.textContent;
    const before = words();
    setTimeout(() => done(before !== undefined && words() === before), 250);
  }));
  return page.locator(".cm-tooltip-autocomplete li").allTextContents();
};

/** Nothing went wrong in the page. */
export function quiet(page) {
  assert.deepEqual(page.wrong, []);
}

/** The font of formulas is there. */
export async function lettered(page) {
  await page.waitForFunction(() => [...document.fonts].some((f) => f.family === "carom-math" && f.status === "loaded"), null, { timeout: 20_000 });
}

/** Holds a duration to its limit where CAROM_TIMING=1 says that the machine is quiet; elsewhere it is only told: clocks of a
 *  busy machine say nothing about the page. */
export function within(t, milliseconds, most) {
  assert.ok(Number.isFinite(milliseconds) && milliseconds >= 0, `${milliseconds} ms`);
  if (process.env.CAROM_TIMING === "1") assert.ok(milliseconds <= most, `${milliseconds} ms, at most ${most} ms`);
  else t.diagnostic(`${milliseconds.toFixed(1)} ms; the limit of ${most} ms is held with CAROM_TIMING=1`);
}
