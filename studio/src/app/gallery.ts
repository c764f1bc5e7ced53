// The gallery: every model that comes along, as a card with a small moving picture. Pictures are simulated when they come
// into sight, one after the other, and cost nothing before.

import { Cancelled } from "../engine/client";
import type { GalleryEntry, Scene } from "../engine/protocol";
import { button, h } from "../layout/dom";
import { camera } from "../stage/camera";
import { drawFrame } from "../stage/draw";
import { readInk } from "../stage/ink";
import { span } from "../stage/scene";
import type { Session } from "./session";
import { still } from "./theme";

/** Samples of a small picture, and the seconds it takes to play. */
const SAMPLES = 301;
const LASTS = 8;
const SIZE = { width: 240, height: 150 };

interface Card {
  entry: GalleryEntry;
  element: HTMLElement;
  canvas: HTMLCanvasElement;
  scene: Scene | null;
  seen: boolean;
  asked: boolean;
}

export class Gallery {
  private readonly dialog: HTMLDialogElement;
  private readonly list = h("div", { class: "cards" });
  private cards: Card[] = [];
  private moving = false;
  private ink = readInk();
  private readonly watcher: IntersectionObserver;

  constructor(private readonly session: Session, private readonly choose: (entry: GalleryEntry) => void) {
    const find = h("input", { type: "search", class: "find", placeholder: "Search models", "aria-label": "Search models" });
    find.addEventListener("input", () => this.filter(find.value));
    this.dialog = h("dialog", { class: "gallery", "aria-label": "Gallery" }, h("header", {}, h("h2", {}, "Gallery"), find, button("Close the gallery", "close", () => this.dialog.close())), this.list);
    this.dialog.addEventListener("click", (e) => { if (e.target === this.dialog) this.dialog.close(); });
    this.dialog.addEventListener("close", () => {
      this.moving = false;
      // A picture that nobody sees is not waited for.
      this.session.engine.cancel("run", { aside: true });
    });
    document.body.append(this.dialog);
    this.watcher = new IntersectionObserver((all) => {
      for (const e of all) {
        const card = this.cards.find((c) => c.element === e.target);
        if (card) card.seen = e.isIntersecting;
      }
      void this.simulate();
    }, { root: this.list, rootMargin: "60px" });
  }

  async open(): Promise<void> {
    this.ink = readInk();
    this.dialog.showModal();
    if (!this.cards.length) this.fill(await this.session.engine.ask("gallery", {}));
    for (const card of this.cards) this.draw(card, 0.35);
    if (!this.moving && !still()) {
      this.moving = true;
      const began = performance.now();
      const tick = (now: number): void => {
        if (!this.moving) return;
        for (const card of this.cards) if (card.seen) this.draw(card, ((now - began) / 1000 / LASTS) % 1);
        requestAnimationFrame(tick);
      };
      requestAnimationFrame(tick);
    }
    void this.simulate();
  }

  private fill(entries: GalleryEntry[]): void {
    const groups = new Map<string, Card[]>();
    for (const entry of entries) {
      const canvas = h("canvas", { width: SIZE.width * 2, height: SIZE.height * 2, "aria-hidden": "true" });
      const words = entry.comment.replace(/\s+/g, " ").replace(/ ?Look at:.*/, "");
      const element = h("button", { type: "button", class: "card", "data-model": entry.name }, canvas, h("b", {}, entry.title), h("small", {}, words.length > 110 ? `${words.slice(0, 108)}…` : words));
      element.addEventListener("click", () => {
        this.dialog.close();
        this.choose(entry);
      });
      const card: Card = { entry, element, canvas, scene: null, seen: false, asked: false };
      this.cards.push(card);
      groups.set(entry.group, [...(groups.get(entry.group) ?? []), card]);
    }
    for (const [group, cards] of groups) this.list.append(h("section", {}, group ? h("h3", {}, group) : null, h("div", { class: "card-grid" }, ...cards.map((c) => c.element))));
    for (const card of this.cards) this.watcher.observe(card.element);
  }

  private filter(words: string): void {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    for (const card of this.cards) {
      const all = `${card.entry.name} ${card.entry.title} ${card.entry.comment}`.toLowerCase();
      card.element.hidden = !wanted.every((w) => all.includes(w));
    }
    for (const section of this.list.querySelectorAll<HTMLElement>("section")) section.hidden = !section.querySelector(".card:not([hidden])");
  }

  private busy = false;
  private async simulate(): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    for (;;) {
      const card = this.dialog.open ? this.cards.find((c) => c.seen && !c.asked) : undefined;
      if (!card) break;
      card.asked = true;
      try {
        const reply = await this.session.engine.ask("run", { text: card.entry.text, file: `${card.entry.name}.toml`, samples: SAMPLES, limits: { seconds: 1 } }, { aside: true });
        card.scene = reply.scene;
        card.element.classList.toggle("plain", !reply.scene || reply.scene.dimension === 0);
        this.draw(card, 0.35);
      } catch (error) {
        if (error instanceof Cancelled) card.asked = false;
      }
    }
    this.busy = false;
  }

  private draw(card: Card, part: number): void {
    const { scene, canvas } = card;
    const c = canvas.getContext("2d");
    if (!c || !scene || scene.time.length === 0) return;
    c.setTransform(2, 0, 0, 2, 0, 0);
    c.clearRect(0, 0, SIZE.width, SIZE.height);
    const [from, to] = span(scene);
    const time = from + part * (to - from);
    if (scene.dimension === 0) {
      this.drawCurve(c, scene, part);
      return;
    }
    drawFrame(c, scene, time, camera(scene, SIZE.width, SIZE.height, { about: -0.9, above: 0.35 }), this.ink, { flash: ((to - from) / LASTS) * 0.33, traces: true, forces: null, ghost: false, size: SIZE, small: true });
  }

  /** A model that does not say where things are shows its first signal. */
  private drawCurve(c: CanvasRenderingContext2D, scene: Scene, part: number): void {
    const values = scene.columns[0]?.data;
    if (!values) return;
    const low = values.reduce((a, b) => Math.min(a, b), Infinity);
    const high = values.reduce((a, b) => Math.max(a, b), -Infinity);
    c.strokeStyle = this.ink.curves[0]!;
    c.lineWidth = 1.6;
    c.beginPath();
    const upto = Math.max(2, Math.floor(part * values.length));
    for (let k = 0; k < upto; k++) c.lineTo(16 + ((SIZE.width - 32) * k) / values.length, SIZE.height - 16 - ((SIZE.height - 32) * (values[k]! - low)) / (high - low || 1));
    c.stroke();
  }
}
