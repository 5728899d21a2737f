// Many wishes, one deed: what is drawn or read again need not follow each event.

/** Runs once for all who asked in so many milliseconds. */
export class Paced {
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly ms: number,
    readonly run: () => void,
  ) {}

  ask(): void {
    this.#timer ??= setTimeout(() => this.now(), this.ms);
  }

  now(): void {
    this.stop();
    this.run();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

/** Between two drawings of what came, in ms. */
export const DRAWN_MS = 100;

/** Between two questions for counts while events come, in ms. */
export const COUNTED_MS = 1_000;
