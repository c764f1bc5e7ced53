// The engine under Node: its numbers are those of the program, nothing makes it hang or useless, memory comes back.
//
//   CAROM=target/debug/carom node studio/test/engine.mjs
//
// Numbers: every gallery model, every sample and every impact, against `carom run --json --option arithmetic=plain`. Both do the
// same operations in the same order; only exp, log, powers with a broken exponent (the derivatives of sqrt) and the like come from
// the system's library there and from Rust's own here, so models without them agree bit by bit, which is checked, and the others
// to 1e-12 of the larger of 1 and the value.

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const carom = resolve(process.env.CAROM ?? join(root, "target/debug/carom"));
const out = join(root, "target/studio-test");
mkdirSync(out, { recursive: true });
const require = createRequire(join(root, "studio/package.json"));
require("esbuild").buildSync({
  entryPoints: ["client", "instance", "worker"].map((name) => join(root, `studio/src/engine/${name}.ts`)),
  bundle: true, format: "esm", platform: "neutral", outdir: out, outExtension: { ".js": ".mjs" }, logLevel: "error",
});
// A Worker of Node speaks through `parentPort`, one of a browser through `self`.
writeFileSync(join(out, "node-worker.mjs"), `import { parentPort } from "node:worker_threads";
globalThis.self = { postMessage: (message, transfer) => parentPort.postMessage(message, transfer) };
await import("./worker.mjs");
parentPort.on("message", (data) => self.onmessage({ data }));
`);
const { Instance, Refused, Trapped, MOST_KEPT } = await import(join(out, "instance.mjs"));
const { Engine, Cancelled, EngineFailed } = await import(join(out, "client.mjs"));

const module = await WebAssembly.compile(readFileSync(join(root, "studio/src/engine/engine.wasm")));
let failed = 0;
let done = 0;
const only = process.argv[2];
async function test(name, body) {
  if (only !== undefined && !name.includes(only)) return;
  const begin = performance.now();
  try {
    const said = await body();
    console.log(`ok    ${name} (${((performance.now() - begin) / 1000).toFixed(1)} s)${said ? `: ${said}` : ""}`);
    done += 1;
  } catch (error) {
    failed += 1;
    console.log(`FAIL  ${name}: ${error.stack ?? error}`);
  }
}
function check(condition, sentence) {
  if (!condition) throw new Error(sentence);
}

/** The smallest module with the engine's door: it says what it is once, and traps when it is asked again. */
const TRAPS = (() => {
  const section = (id, ...bytes) => [id, bytes.length, ...bytes];
  const text = (word) => [word.length, ...Buffer.from(word)];
  const json = Buffer.from('{"version":"trap"}');
  // Types: (i32) → i32, (i32 i32 i32 i32) → i32, () → ().
  const types = section(1, 3, 0x60, 1, 0x7f, 1, 0x7f, 0x60, 4, 0x7f, 0x7f, 0x7f, 0x7f, 1, 0x7f, 0x60, 0, 0);
  const globals = section(6, 1, 0x7f, 1, 0x41, 0, 0x0b);
  const exports = section(7, 4, ...text("memory"), 2, 0, ...text("carom_take"), 0, 0, ...text("carom_ask"), 0, 1, ...text("carom_done"), 0, 2);
  const ask = [0, 0x23, 0, 0x04, 0x40, 0x00, 0x0b, 0x41, 1, 0x24, 0, 0x41, 0x80, 0x08, 0x0b];
  const code = section(10, 3, 5, 0, 0x41, 0x80, 0x10, 0x0b, ask.length, ...ask, 2, 0, 0x0b);
  const words = new Uint8Array(new Uint32Array([0, 1040, json.length, 0]).buffer);
  const data = section(11, 1, 0, 0x41, 0x80, 0x08, 0x0b, 16 + json.length, ...words, ...json);
  return new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...types, ...section(3, 3, 0, 1, 2), ...section(5, 1, 0, 1), ...globals, ...exports, ...code, ...data]);
})();

const engine = new Instance(module);
const spring = `coordinates = ["x"]\n[parameters]\nk = 1.0\n[energy]\nkinetic = "x'^2/2"\npotential = "k*x^2/2"\n[start]\nposition = { x = 1 }\n[run]\nuntil = 10\n`;

/** Functions whose last bit the platform decides. */
const PLATFORM = /\b(sqrt|exp|log|tan|asin|acos|atan|atan2|sinh|cosh|tanh|asinh|acosh|atanh)\(|\^\(|\^-?\d*\.\d|\^[a-z]/i;

/** Largest relative difference, and how many numbers differ at all. */
function difference(ours, theirs, far) {
  check(ours.length === theirs.length, `${ours.length} numbers in place of ${theirs.length}`);
  for (let i = 0; i < ours.length; i += 1) {
    const [a, b] = [ours[i], theirs[i] ?? NaN];
    if (Object.is(a, b) || (Number.isNaN(a) && Number.isNaN(b))) continue;
    far.count += 1;
    far.most = Math.max(far.most, Math.abs(a - b) / Math.max(1, Math.abs(b)));
    if (Number.isNaN(a) !== Number.isNaN(b)) far.most = Infinity;
  }
}

await test("the numbers of all gallery models are those of the program with plain arithmetic", () => {
  let equal = 0;
  const near = [];
  for (const { name, text } of engine.ask("gallery", {})) {
    const program = spawnSync(carom, ["run", name, "--json", "--quiet", "--option", "arithmetic=plain"], { maxBuffer: 1 << 30 });
    // 2: the motion ended early, which is a result too.
    check(program.status === 0 || program.status === 2, `${name}: carom run ended with ${program.status}: ${program.stderr}`);
    const theirs = JSON.parse(program.stdout);
    const ours = engine.ask("run", { text, file: `${name}.toml`, limits: { seconds: 120, impacts: 1_000_000 } });
    check(ours.ok, `${name}: ${JSON.stringify(ours.diagnostics)}`);
    check(ours.arithmetic === "plain" && theirs.audit.arithmetic === "plain", `${name}: arithmetic ${ours.arithmetic} and ${theirs.audit.arithmetic}`);
    const far = { most: 0, count: 0 };
    const column = (name) => ours.columns.find((c) => c.name === name).values;
    difference(column("time"), theirs.time, far);
    for (const [x, values] of Object.entries(theirs.position)) difference(column(x), values, far);
    for (const [x, values] of Object.entries(theirs.velocity)) difference(column(`${x}'`), values, far);
    difference(column("hamiltonian"), theirs.hamiltonian, far);
    for (const [x, values] of Object.entries(theirs.contact_force)) difference(column(`f.${x}`), values, far);
    for (const [x, values] of Object.entries(theirs.multiplier)) difference(column(`mu.${x}`), values, far);
    for (const [x, values] of Object.entries(theirs.output)) difference(column(x), values, far);
    check(ours.motion.impacts.length === theirs.impacts.length, `${name}: ${ours.motion.impacts.length} impacts in place of ${theirs.impacts.length}`);
    theirs.impacts.forEach((impact, i) => {
      const mine = ours.motion.impacts[i];
      check(JSON.stringify(mine.walls) === JSON.stringify(impact.walls), `${name}: impact ${i + 1} at another wall`);
      difference([mine.time, ...mine.impulse, ...Object.values(mine.velocity_after)], [impact.time, ...impact.impulse, ...Object.values(impact.velocity_after)], far);
    });
    check(ours.motion.stop.reason === theirs.stop.reason, `${name}: ${ours.motion.stop.reason} in place of ${theirs.stop.reason}`);
    const formulas = text.replace(/^\s*#.*$/gm, "");
    check(far.count === 0 || PLATFORM.test(formulas), `${name}: has no function of the platform, and still ${far.count} numbers differ`);
    if (far.count === 0) equal += 1;
    else near.push(`${name} ${far.most.toExponential(1)}`);
    check(far.most <= 1e-12, `${name}: differs by ${far.most.toExponential(1)}`);
  }
  return `${equal} bit by bit${near.length ? `, near: ${near.join(", ")}` : ""}`;
});

await test("a mistake has its place, its hint and its repair", () => {
  const text = spring.replace("k*x^2/2", "kk*x^2/2");
  const { ok, diagnostics } = engine.ask("check", { text });
  const [d] = diagnostics.filter((d) => d.severity === "error");
  check(!ok && text.slice(d.from, d.to) === "kk" && d.line === 6, JSON.stringify(d));
  check(d.fix !== null && d.fix.insert === "k", JSON.stringify(d));
  const repaired = text.slice(0, d.fix.from) + d.fix.insert + text.slice(d.fix.to);
  check(engine.ask("check", { text: repaired }).ok, "the repair repairs");
  // As somebody writes it who has just begun: every click repairs one, and then it is a model.
  let typed = `coordinates = ["phi"]\n[parameters]\nm = 1\ng = 9,81\n[energy]\nkinetic = "m phi'^2/2 + 0 phi'"\npotential = "-m*g*cos phi + k*phi^2"\n[start]\nposition = { phi = 1 }\n[run]\nuntil = 10 s\n`;
  for (let clicks = 0; ; clicks += 1) {
    const fix = engine.ask("check", { text: typed }).diagnostics.find((d) => d.fix !== null)?.fix;
    if (!fix) break;
    check(clicks < 9, "repairs come to an end");
    typed = typed.slice(0, fix.from) + fix.insert + typed.slice(fix.to);
  }
  check(engine.ask("check", { text: typed }).ok && typed.includes("g = 9.81\n") && typed.includes("m*phi'^2/2 + 0*phi'") && typed.includes("until = 10\n") && typed.includes("[parameters]\nk = 1.0\n"), typed);
});

await test("sliders, sections, completion, cloud, dragging and every export answer for every gallery model", () => {
  for (const { name, text } of engine.ask("gallery", {})) {
    const outline = engine.ask("outline", { text });
    check(outline.ok && outline.sliders.every((s) => s.min < s.max && (s.value === null || (s.min <= s.value && s.value <= s.max))), `${name}: sliders`);
    const { sections } = engine.ask("derive", { text });
    check(sections.length > 2 && sections.some((s) => s.blocks.some((b) => b.kind === "equations" && b.rows[0].formula.latex !== "")), `${name}: sections`);
  }
  const { text } = engine.ask("gallery", {}).find((e) => e.name === "double_pendulum_wall");
  const at = text.indexOf("[parameters]");
  check(engine.ask("complete", { text: `${text.slice(0, at)}\n[w`, at: at + 3 }).items.some((i) => i.label.startsWith("wall")), "completion");
  check(!engine.ask("check", { text: `# \ud800\n${text}\udc00` }).ok, "half a letter is no letter, and no reason to refuse the question");
  check(engine.ask("hover", { text, at: text.indexOf("theta1") + 2 }).markdown.includes("theta1"), "hover");
  const cloud = engine.ask("sweep", { text, count: 20, until: 2, samples: 21 });
  check(cloud.done === 20 && cloud.columns[0].values.length === 20 * 21 && cloud.points[0].data.length === 20 * 21 * 2, "cloud");
  const plain = engine.ask("run", { text, until: 2, samples: 21 });
  check(cloud.columns[0].values.subarray(0, 21).every((x, i) => Object.is(x, plain.columns[1].values[i])), "trajectory 0 is the motion itself");
  const point = plain.scene.points.findIndex((p) => p.role === "body");
  const here = plain.scene.points[point].data.map((d) => d[0]);
  const drag = engine.ask("drag", { text, point, target: [here[0] * 0.9, here[1] * 0.9 - 0.05] });
  check(drag.ok && Object.keys(drag.values).length === 2, JSON.stringify(drag));
  for (const as of ["page", "svg", "svg_dark", "png", "csv", "records_csv", "json", "notebook", "model", "report_html", "report_latex", "report_markdown", "report_text", "sympy", "rust", "c"]) {
    const file = engine.ask("export", { text, as, file: "double_pendulum_wall.toml", until: 2 });
    check(file.ok && file.bytes.length > 100 && file.file.startsWith("double_pendulum_wall."), as);
  }
});

await test("a slider's value is what the text would have said", () => {
  const set = engine.ask("run", { text: spring, values: { k: 2, x: 0.5 } });
  const said = engine.ask("run", { text: spring.replace("k = 1.0", "k = 2.0").replace("x = 1", "x = 0.5") });
  set.columns.forEach((c, i) => c.values.forEach((x, j) => check(Object.is(x, said.columns[i].values[j]), `${c.name} ${j}`)));
});

await test("a table comes from the page, and one that is missing is asked for", () => {
  const text = `coordinates = ["x"]\nlagrangian = "x'^2/2"\n[input]\nu = { file = "u.csv" }\n[force.push]\ngeneralized = { x = "u" }\n[run]\nuntil = 1\n`;
  const missing = engine.ask("run", { text });
  check(!missing.ok && missing.diagnostics[0].hint.includes("onto the page"), JSON.stringify(missing.diagnostics));
  check(engine.ask("outline", { text }).tables[0].file === "u.csv", "the outline names it");
  const given = engine.ask("run", { text, tables: { "u.csv": "t,u\n0,2\n1,2\n" } });
  check(given.ok && Math.abs(given.columns[1].values.at(-1) - 1) < 1e-14, "x = t² under the force 2");
});

await test("hostile texts and numbers get an answer or a refusal, and the engine goes on", () => {
  const deep = `coordinates = ["x"]\nlagrangian = "${"(".repeat(20_000)}x"\n`;
  const nested = `a = ${"[".repeat(20_000)}`;
  const powers = `coordinates = ["x"]\nlagrangian = "x'^2/2 + ${"(1+x)^99*".repeat(50)}1"\n`;
  const texts = ["", "\0", "\uFEFF", "[", "=", "\u{1F600}".repeat(1000), deep, nested, powers, "x".repeat(300_000), `coordinates = [${'"a",'.repeat(2_000)}]`];
  let refused = 0;
  for (const text of texts) {
    for (const what of ["check", "outline", "run", "derive"]) {
      try {
        engine.ask(what, { text, limits: { seconds: 2, steps: 1000 } });
      } catch (error) {
        check(error instanceof Refused || error instanceof Trapped, String(error));
        if (error instanceof Trapped) refused += 1;
      }
    }
  }
  for (const values of [{ k: NaN }, { k: Infinity }, { k: 1e308 }, { x: -1e308 }, { nothing: 1 }, { k: null }]) {
    const reply = engine.ask("run", { text: spring, values, limits: { seconds: 2 } });
    check(!reply.ok || reply.motion.stop.reason !== undefined, JSON.stringify(values));
  }
  for (const more of [{ until: 1e300 }, { until: NaN }, { until: -1 }, { samples: 1e12 }, { samples: -3 }, { samples: 0 }, { tolerance: 0 }, { limits: { seconds: -1, steps: "x" } }]) {
    const reply = engine.ask("run", { text: spring, limits: { seconds: 1, steps: 10_000 }, ...more });
    check(!reply.ok || reply.columns[0].values.length <= 200_001, JSON.stringify(more));
  }
  for (const [what, ask] of [["nothing", {}], ["run", null], ["run", []], ["export", { text: spring, as: "x" }], ["drag", { text: spring, point: 1e9, target: [] }]]) {
    try {
      engine.ask(what, ask);
    } catch (error) {
      check(error instanceof Refused, String(error));
    }
  }
  check(engine.ask("run", { text: spring }).ok, "the engine still answers");
  return `${refused} of ${texts.length * 4} cost an instance`;
});

await test("an endless run ends in time with what there is, and tells its progress", () => {
  const begin = performance.now();
  let told = 0;
  engine.host.progress = () => (told += 1) > 0;
  const reply = engine.ask("run", { text: spring, until: 1e9, limits: { seconds: 1, steps: 100_000_000 } });
  engine.host.progress = undefined;
  check(reply.ok && reply.motion.stop.reason === "interrupted", reply.motion.stop.reason);
  check(performance.now() - begin < 5000 && told > 3, `${told} times told`);
});

await test("memory is given back after large answers", () => {
  // A large answer by itself: many coordinates, many samples. It is looked at while it is there, through the exports.
  const names = Array.from({ length: 24 }, (_, i) => `x${i}`);
  const many = `coordinates = [${names.map((n) => `"${n}"`)}]\nlagrangian = "${names.map((n) => `${n}'^2/2`).join(" + ")}"\n[start]\nvelocity = { ${names.map((n, i) => `${n} = ${i}`).join(", ")} }\n[run]\nuntil = 1\n`;
  let most = 0;
  const grown = engine.start.bind(engine);
  engine.start = () => {
    const exports = grown();
    return { ...exports, memory: exports.memory, carom_take: exports.carom_take, carom_ask: exports.carom_ask, carom_done: () => { most = Math.max(most, exports.memory.buffer.byteLength); exports.carom_done(); } };
  };
  const wide = engine.ask("run", { text: many, samples: 60_001, limits: { samples: 200_001, seconds: 60 } });
  delete engine.start;
  check(wide.ok && wide.columns[1].values.length === 60_001, "the answer is whole");
  check(most > MOST_KEPT, `only ${most} bytes were used: this test needs a larger answer`);
  check(engine.memory === 0, `${engine.memory} bytes are kept of ${most}`);
  for (let k = 0; k < 4; k += 1) engine.ask("run", { text: spring, samples: 200_001, limits: { samples: 200_001 } });
  const large = engine.memory;
  check(large <= MOST_KEPT, `${large} bytes are kept`);
  for (let k = 0; k < 50; k += 1) engine.ask("run", { text: spring, values: { k: 1 + k / 100 } });
  check(engine.memory <= Math.max(large, 64 << 20), `${engine.memory} bytes after 50 runs, ${large} before`);
  return `${Math.round(engine.memory / 2 ** 20)} MiB in use`;
});

let workers = 0;
function nodeWorker() {
  workers += 1;
  const worker = new Worker(join(out, "node-worker.mjs"));
  const like = { onmessage: null, onerror: null, postMessage: (m) => worker.postMessage(m), terminate: () => void worker.terminate() };
  worker.on("message", (data) => like.onmessage?.({ data }));
  worker.on("error", (error) => like.onerror?.(error));
  return like;
}
const client = new Engine({ module: async () => module, worker: nodeWorker });
const settled = (promise) => promise.then((value) => ({ value }), (error) => ({ error }));

await test("the next run cancels the one before, also when that would last for ever", async () => {
  const endless = settled(client.ask("run", { text: spring, until: 1e9, limits: { seconds: 120, steps: 1e8 } }));
  const waiting = settled(client.ask("run", { text: spring, until: 2 }));
  const begin = performance.now();
  const last = await client.ask("run", { text: spring, until: 3 });
  check(last.motion.stop.time === 3, "the last one is answered");
  check((await endless).error instanceof Cancelled && (await waiting).error instanceof Cancelled, "the others are cancelled");
  check(performance.now() - begin < 5000, "at once");
});

await test("typing is answered while a long run goes on", async () => {
  const endless = settled(client.ask("run", { text: spring, until: 1e9, limits: { seconds: 120, steps: 1e8 } }));
  check((await client.ask("check", { text: spring })).ok, "checked");
  client.cancel("run");
  check((await endless).error instanceof Cancelled, "cancelled");
});

await test("a Worker that does not answer in time is replaced, and so is one that broke", async () => {
  const before = workers;
  const hung = await settled(client.ask("run", { text: spring, until: 1e9, limits: { seconds: 120, steps: 1e8 } }, { patience: 500 }));
  check(hung.error instanceof EngineFailed && workers > before, "replaced");
  check((await client.ask("run", { text: spring, until: 2 })).ok, "and the next answers");
});

await test("a Worker whose instance trapped is replaced, and the next question is heard", async () => {
  const trapping = new Engine({ module: async () => new WebAssembly.Module(TRAPS), worker: nodeWorker });
  for (let k = 0; k < 3; k += 1) {
    const before = workers;
    const failed = await settled(trapping.ask("check", { text: spring }, { patience: 20_000 }));
    check(failed.error instanceof EngineFailed && /unreachable/.test(failed.error.message), String(failed.error));
    check(workers === before + (k === 0 ? 2 : 1), `${workers - before} Workers were taken`);
  }
  trapping.close();
});

await test("what goes on aside neither ends nor holds up the user's run", async () => {
  const run = settled(client.ask("run", { text: spring, until: 2000 }));
  const endless = { text: spring, until: 1e9, limits: { seconds: 120, steps: 1e8 } };
  const aside = [settled(client.ask("run", endless, { aside: true })), settled(client.ask("sweep", { ...endless, count: 5 }))];
  check((await run).value?.ok, "a picture of the gallery does not cancel it");
  check((await client.ask("run", { text: spring, until: 3 })).motion.stop.time === 3, "nor does it hold up the next");
  check((await client.ask("export", { text: spring, as: "csv", until: 1 })).ok, "nor a file");
  client.cancel("sweep");
  client.cancel("run", { aside: true });
  for (const a of aside) check((await a).error instanceof Cancelled, "cancelled");
});

await test("questions about a text are overtaken by those about the next", async () => {
  const texts = Array.from({ length: 12 }, (_, k) => spring.replace("k = 1.0", `k = ${k + 1}.0`));
  const asked = texts.map((text) => settled(client.ask("outline", { text })));
  const last = await asked.at(-1);
  check(last.value.sliders[0].value === 12, "the last is answered");
  const all = await Promise.all(asked);
  check(all.filter((a) => a.error instanceof Cancelled).length >= 9, `${all.filter((a) => a.error).length} were dropped`);
});

await test("a slider that is dragged shows motions on its way, also of a model that takes half a second", async () => {
  const slow = { text: spring, limits: { seconds: 0.6, steps: 1e8 }, until: 1e9 };
  await client.ask("run", slow);
  let shown = 0;
  const begin = performance.now();
  const asked = [];
  // A new value every 50 ms for three seconds.
  while (performance.now() - begin < 3000) {
    asked.push(settled(client.ask("run", { ...slow, values: { k: 1 + asked.length / 100 } })).then((a) => { if (a.value) shown += 1; }));
    await new Promise((done) => setTimeout(done, 50));
  }
  await Promise.all(asked);
  check(shown >= 3, `${shown} of ${asked.length} motions were shown`);
});
client.close();

console.log(`${done} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
