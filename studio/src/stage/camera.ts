// From the model's plane or space to pixels.
//
// In the plane: equal scales, the box of the motion in the middle. In space: a parallel projection, turned by `about` around
// z and tilted by `above`; however it is turned, the box of the motion stays in the picture.

import type { Scene } from "./scene";

/** A place in pixels, and how far behind the middle it is. */
export type Pixel = [x: number, y: number, depth: number];

/** How space is looked at. */
export interface Turn {
  about: number;
  above: number;
}

/** Maps places to pixels; `scale` is pixels per unit of length. */
export interface Camera {
  to(place: ArrayLike<number>): Pixel;
  /** The place under a pixel: in the plane, or in space at a depth that `to` gave. */
  from(x: number, y: number, depth?: number): number[];
  scale: number;
}

/** Pixels left free around the motion. */
const MARGIN = 22;

/** The camera of a scene on a canvas of this size. */
export function camera(scene: Pick<Scene, "bounds" | "dimension">, width: number, height: number, turn: Turn, zoom = 1): Camera {
  const b = scene.bounds;
  const middle = b.map((r) => (r[0] + r[1]) / 2);
  const half = b.map((r) => Math.max((r[1] - r[0]) / 2, 1e-9));
  const [mx = 0, my = 0, mz = 0] = middle;
  const [hx = 1, hy = 1, hz = 1] = half;
  const wide = Math.max(8, width / 2 - MARGIN);
  const high = Math.max(8, height / 2 - MARGIN);
  if (scene.dimension !== 3) {
    const scale = Math.min(wide / hx, high / hy) * zoom;
    return {
      scale,
      to: (p) => [width / 2 + (p[0]! - mx) * scale, height / 2 - (p[1]! - my) * scale, 0],
      from: (x, y) => [mx + (x - width / 2) / scale, my - (y - height / 2) / scale],
    };
  }
  const round = Math.hypot(hx, hy);
  const scale = Math.min(wide / round, high / (hz * Math.cos(turn.above) + round * Math.abs(Math.sin(turn.above)))) * zoom;
  const [ca, sa, ce, se] = [Math.cos(turn.about), Math.sin(turn.about), Math.cos(turn.above), Math.sin(turn.above)];
  return {
    scale,
    to: (p) => {
      const x = p[0]! - mx;
      const y = p[1]! - my;
      const z = (p[2] ?? 0) - mz;
      const right = ca * x - sa * y;
      const back = sa * x + ca * y;
      return [width / 2 + right * scale, height / 2 - (z * ce + back * se) * scale, back * ce - z * se];
    },
    from: (x, y, depth = 0) => {
      const right = (x - width / 2) / scale;
      const up = (height / 2 - y) / scale;
      const back = up * se + depth * ce;
      return [mx + ca * right + sa * back, my - sa * right + ca * back, mz + up * ce - depth * se];
    },
  };
}
