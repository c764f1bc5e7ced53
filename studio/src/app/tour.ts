// The tour: lessons, each a text and a model file, whose tasks the page checks by itself.
//
// A lesson is `lessons/NN-name.md` beside `lessons/NN-name.toml`. Tasks are the items `- [ ] …` of the text; what is checked
// stands after them in a comment, `<!-- impacts >= 3 -->` (see `conditions.ts`). A teacher adds a lesson by adding two files.

import { button, h, icon, relabel } from "../layout/dom";
import { markdown } from "../mathematics/markdown";
import { facts, holds } from "./conditions";
import { Cell } from "./cell";
import type { Player } from "./player";
import type { Session } from "./session";
import { remember, remembered } from "./theme";

const TEXTS = import.meta.glob("../../lessons/*.md", { query: "?raw", import: "default", eager: true }) as Record<string, string>;
const MODELS = import.meta.glob("../../lessons/*.toml", { query: "?raw", import: "default", eager: true }) as Record<string, string>;
const KEY = "carom-lessons";
/** Milliseconds between looks at what has been done. */
const LOOK = 250;

interface Task {
  words: string;
  condition: string;
}
interface Lesson {
  name: string;
  title: string;
  words: string;
  tasks: Task[];
  model: string;
}

function read(path: string, text: string): Lesson {
  const name = path.replace(/.*\//, "").replace(/\.md$/, "");
  const tasks: Task[] = [];
  const words = text
    .split("\n")
    .filter((line) => {
      const m = /^- \[ \] (.*?)\s*<!--\s*(.*?)\s*-->\s*$/.exec(line);
      if (m) tasks.push({ words: m[1]!, condition: m[2]! });
      return !m;
    })
    .join("\n");
  const title = /^# (.*)$/m.exec(words)?.[1] ?? name;
  return { name, title, words: words.replace(/^# .*$/m, ""), tasks, model: MODELS[path.replace(/\.md$/, ".toml")] ?? "" };
}

export const LESSONS: Lesson[] = Object.keys(TEXTS).sort().map((path) => read(path, TEXTS[path]!));

export class Tour {
  /** The lesson that is open, or null. */
  readonly at = new Cell<number | null>(null);
  private readonly box = h("aside", { class: "tour", "aria-label": "Tour", hidden: true });
  private readonly done = new Set<string>((remembered(KEY) ?? "").split(" ").filter(Boolean));
  private timer: ReturnType<typeof setInterval> | undefined;
  private items: HTMLElement[] = [];
  private met: boolean[] = [];
  private next: HTMLButtonElement | null = null;

  constructor(private readonly session: Session, private readonly player: Player, private readonly open: (file: string, text: string) => void) {
    document.body.append(this.box);
    this.at.listen((n) => this.show(n));
  }

  toggle(): void {
    if (this.at.value !== null) this.at.value = null;
    else this.start(Math.max(0, LESSONS.findIndex((l) => !this.done.has(l.name))));
  }

  /** Opens a lesson with its model. */
  start(n: number): void {
    const lesson = LESSONS[n];
    if (!lesson) return;
    this.open(`${lesson.name}.toml`, lesson.model);
    this.at.value = n;
  }

  private show(n: number | null): void {
    clearInterval(this.timer);
    this.box.hidden = n === null;
    const lesson = n === null ? undefined : LESSONS[n];
    if (n === null || !lesson) return;
    this.met = lesson.tasks.map(() => false);
    this.items = lesson.tasks.map((task) => h("li", {}, h("span", { class: "box" }), h("div", {}, markdown(task.words))));
    this.next = button(n + 1 < LESSONS.length ? "Next" : "Finish", null, () => { if (n + 1 < LESSONS.length) this.start(n + 1); else this.at.value = null; }, { text: true });
    const heading = h("h2", { tabindex: -1 }, lesson.title);
    const fold: HTMLButtonElement = button("Fold the lesson", "fold", () => {
      const folded = this.box.classList.toggle("folded");
      relabel(fold, folded ? "Unfold the lesson" : "Fold the lesson", folded ? "unfold" : "fold");
    });
    this.box.classList.remove("folded");
    this.box.replaceChildren(
      h("header", {}, h("span", { class: "step" }, `Step ${n + 1} of ${LESSONS.length}`), h("b", { class: "folded-title", "aria-hidden": "true" }, lesson.title), fold, button("Leave the tour", "close", () => { this.at.value = null; })),
      heading,
      markdown(lesson.words),
      h("ul", { class: "tasks", "aria-live": "polite" }, ...this.items),
      h("footer", {}, button("Back", null, () => this.start(n - 1), { text: true, disabled: n === 0 }), this.dots(n), this.next));
    this.box.scrollTop = 0;
    heading.focus({ preventScroll: true });
    this.timer = setInterval(() => this.look(lesson), LOOK);
  }

  private dots(n: number): HTMLElement {
    return h("span", { class: "dots", "aria-hidden": "true" }, ...LESSONS.map((l, i) => h("span", { class: `${this.done.has(l.name) ? "done" : ""} ${i === n ? "here" : ""}` })));
  }

  /** Ticks off what has been done; what was done once stays done. */
  private look(lesson: Lesson): void {
    if (this.session.document.value.file !== `${lesson.name}.toml` || !this.session.shown.value) return;
    const now = facts(this.session, this.player);
    lesson.tasks.forEach((task, i) => {
      if (this.met[i] || !holds(task.condition, now)) return;
      this.met[i] = true;
      this.items[i]!.classList.add("done");
      this.items[i]!.querySelector(".box")!.replaceChildren(icon("check"));
      this.items[i]!.append(h("span", { class: "visually-hidden" }, "Done."));
    });
    if (this.met.every(Boolean) && !this.next?.classList.contains("primary")) {
      this.next?.classList.add("primary");
      this.done.add(lesson.name);
      remember(KEY, [...this.done].join(" "));
      const n = this.at.value;
      if (n !== null) this.box.querySelector(".dots")?.replaceWith(this.dots(n));
    }
  }
}
