// The colours of the page, read from its style sheet, so that canvases follow light and dark.

/** Colours by role. */
export interface Ink {
  dark: boolean;
  paper: string;
  panel: string;
  ink: string;
  muted: string;
  grid: string;
  rule: string;
  wall: string;
  accent: string;
  flash: string;
  force: string;
  ghost: string;
  curves: string[];
}

/** Six colours that stay apart for colour-blind eyes. */
const CURVES = {
  light: ["#0072b2", "#d55e00", "#008860", "#a0528a", "#8a6d00", "#3a8fc4"],
  dark: ["#56b4e9", "#f0a028", "#3fc197", "#d98cb8", "#d9c94f", "#8fc7ea"],
};

/** The colours now. */
export function readInk(element: Element = document.documentElement): Ink {
  const style = getComputedStyle(element);
  const of = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const dark = of("dark") === "1";
  return {
    dark,
    paper: of("paper"),
    panel: of("panel"),
    ink: of("ink"),
    muted: of("muted"),
    grid: of("grid"),
    rule: of("rule"),
    wall: of("wall"),
    accent: of("accent"),
    flash: of("flash"),
    force: of("force"),
    ghost: of("ghost"),
    curves: dark ? CURVES.dark : CURVES.light,
  };
}

/** Curve colour number n. */
export const colour = (ink: Ink, n: number | null): string => ink.curves[(n ?? 0) % ink.curves.length]!;

/** Part of a colour over another, both #rrggbb. */
export function mixed(over: string, under: string, part: number): string {
  const parts = (hex: string): number[] => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  const below = parts(under);
  return "#" + parts(over).map((v, i) => Math.round(below[i]! + part * (v - below[i]!)).toString(16).padStart(2, "0")).join("");
}
