// Time: play, scrub, step from impact to impact, speed.

import type { Player } from "../app/player";
import { button, figure, h, relabel } from "../layout/dom";
import { span } from "../stage/scene";

/** The row of controls below the stage. */
export function controls(player: Player): HTMLElement {
  const play = button("Play", "play", () => player.toggle(), { class: "play" });
  const previous = button("Previous impact", "previous", () => player.step(-1));
  const next = button("Next impact", "next", () => player.step(1));
  const scrub = h("input", { type: "range", class: "scrub", min: 0, max: 1, step: "any", value: 0, "aria-label": "Time" });
  const marks = h("canvas", { class: "scrub-marks", "aria-hidden": "true" });
  const clock = h("output", { class: "clock", "aria-label": "Time now" });
  const speed = h("select", { class: "speed", "aria-label": "Speed" });
  let held = false;

  scrub.addEventListener("input", () => {
    player.pause();
    player.seek(Number(scrub.value));
  });
  scrub.addEventListener("pointerdown", () => (held = true));
  addEventListener("pointerup", () => (held = false));
  speed.addEventListener("change", () => player.chooseSpeed(Number(speed.value)));
  player.playing.watch((on) => relabel(play, on ? "Pause" : "Play", on ? "pause" : "play"));

  let units = "";
  player.scene.listen((scene) => {
    if (!scene) return;
    const [from, to] = span(scene);
    scrub.min = String(from);
    scrub.max = String(to);
    units = scene.time_unit;
    previous.disabled = next.disabled = scene.jumps.length === 0;
    const speeds = scene.speeds.includes(player.speed.value) ? scene.speeds : [...scene.speeds, player.speed.value].sort((a, b) => a - b);
    speed.replaceChildren(...speeds.map((s) => new Option(`${figure(s, 3)}×`, String(s), false, s === player.speed.value)));
    drawMarks(marks, scene.jumps.map((j) => (scene.time[j.knot]! - from) / (to - from || 1)));
  });
  player.speed.listen((s) => (speed.value = String(s)));

  let written = "";
  player.onFrame((time) => {
    if (!held) scrub.value = String(time);
    const text = `${time.toFixed(3)}${units ? ` ${units}` : ""}`;
    if (text === written) return;
    written = text;
    clock.textContent = text;
    if (!player.playing.value) scrub.setAttribute("aria-valuetext", `t = ${text}`);
  });
  return h("div", { class: "controls", role: "group", "aria-label": "Time controls" }, play, previous, next, h("div", { class: "scrub-box" }, marks, scrub), clock, speed);
}

/** A tick above the scrubber for every impact. */
function drawMarks(canvas: HTMLCanvasElement, parts: number[]): void {
  const width = canvas.clientWidth || 300;
  canvas.width = width * 2;
  canvas.height = 12;
  const c = canvas.getContext("2d");
  if (!c) return;
  c.fillStyle = getComputedStyle(canvas).color;
  // The thumb's middle runs from half its width to half its width before the end.
  for (const part of parts.slice(0, 2000)) c.fillRect(16 + part * (width * 2 - 32) - 1, 0, 2, 12);
}

/** Keys that work wherever nothing is being typed. */
export function keys(player: Player): void {
  addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented) return;
    const target = e.composedPath()[0] as HTMLElement;
    if (target.isContentEditable || target.closest?.("input:not([type=range]), select, textarea, .menu, dialog")) return;
    const range = target instanceof HTMLInputElement;
    if (e.key === " " && target.tagName !== "BUTTON" && target.tagName !== "SUMMARY") player.toggle();
    else if (range || target.closest?.("[role=separator], [role=tablist], [role=grid]")) return;
    else if (e.key === "ArrowRight" && e.shiftKey) player.step(1);
    else if (e.key === "ArrowLeft" && e.shiftKey) player.step(-1);
    else if (e.key === "ArrowRight") player.nudge(1 / 200);
    else if (e.key === "ArrowLeft") player.nudge(-1 / 200);
    else if (e.key === "Home") player.seek(-Infinity);
    else if (e.key === "End") player.seek(Infinity);
    else return;
    e.preventDefault();
  });
}
