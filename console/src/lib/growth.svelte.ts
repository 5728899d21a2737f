// How a load of the lab grows: its seconds, read while it runs.
import { get } from './api';
import { Lines } from './lines.svelte';

export interface Second {
  elapsed_ms: number;
  answered: number;
  refused: number;
  failed: number;
  per_second: number;
  p50_ns: number | null;
  p99_ns: number | null;
  checked: number | null;
  violations: number | null;
}

export class Growth extends Lines {
  readonly run: number;
  last = $state.raw<Second | null>(null);
  #began: number;

  constructor(run: number, began: string) {
    super();
    this.run = run;
    this.#began = Date.parse(began) / 1_000;
  }

  /** Reads the seconds that have come. */
  async read(): Promise<void> {
    const after = this.last?.elapsed_ms;
    const { seconds } = await get<{ seconds: Second[] }>(`/v1/lab/runs/${this.run}/progress`, { after });
    for (const one of seconds) this.#take(one);
    if (seconds.length > 0) this.tick += 1;
  }

  #take(one: Second): void {
    const before = this.last ?? { elapsed_ms: 0, refused: 0, checked: 0 };
    const took = (one.elapsed_ms - before.elapsed_ms) / 1_000;
    // A rush may be over within a millisecond.
    const rate = (now: number | null, then: number | null) =>
      now === null || took <= 0 ? null : Math.max(0, now - (then ?? 0)) / took;
    const point = new Map([
      ['answered', one.per_second],
      ['refused', rate(one.refused, before.refused)],
      ['p50', one.p50_ns === null ? null : one.p50_ns / 1e9],
      ['p99', one.p99_ns === null ? null : one.p99_ns / 1e9],
      ['checked', rate(one.checked, before.checked)],
    ]);
    this.push(this.#began + one.elapsed_ms / 1_000, point);
    this.last = one;
  }
}
