// A value that tells others when it changes. Everything the page shows hangs on a few of these.

export class Cell<T> {
  private listeners = new Set<(value: T, before: T) => void>();

  constructor(private current: T) {}

  get value(): T {
    return this.current;
  }

  set value(next: T) {
    if (Object.is(next, this.current)) return;
    const before = this.current;
    this.current = next;
    for (const listener of [...this.listeners]) listener(next, before);
  }

  /** Calls back now and whenever it changes; returns how to stop. */
  watch(listener: (value: T, before: T) => void): () => void {
    const stop = this.listen(listener);
    listener(this.current, this.current);
    return stop;
  }

  /** Calls back whenever it changes; returns how to stop. */
  listen(listener: (value: T, before: T) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

/** Calls `act` once nobody has asked for `milliseconds`; `now` does it at once. */
export function debounced(act: () => void, milliseconds: number): { ask(): void; now(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    ask() {
      clearTimeout(timer);
      timer = setTimeout(act, milliseconds);
    },
    now() {
      clearTimeout(timer);
      act();
    },
  };
}
