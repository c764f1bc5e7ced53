// Light or dark: as the system says until someone chooses.

import { Cell } from "./cell";

const KEY = "carom-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

/** Reading storage may be forbidden; then nothing is remembered. */
export function remembered(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function remember(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Private windows forget; that is their purpose.
  }
}

export const theme = new Cell<"light" | "dark">(chosen() ?? (system.matches ? "dark" : "light"));

function chosen(): "light" | "dark" | null {
  const value = remembered(KEY);
  return value === "light" || value === "dark" ? value : null;
}

system.addEventListener("change", () => { if (!chosen()) theme.value = system.matches ? "dark" : "light"; });
theme.watch((value) => { document.documentElement.dataset["theme"] = value; });

export function toggleTheme(): void {
  theme.value = theme.value === "dark" ? "light" : "dark";
  remember(KEY, theme.value);
}

/** Does the reader want nothing to move by itself? */
export const still = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;
