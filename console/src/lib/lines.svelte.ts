// Readings over time, for charts. The newest hour is kept, in arrays that are made once: a page that stays
// open takes no more memory.

/** Readings that are kept; there is one a second. */
const KEPT = 3_600;
/** Dropped in one piece: to move an hour of numbers each second would be work for nothing. */
const DROPPED = 300;
const ROOM = KEPT + DROPPED;

/** What a chart draws. */
export class Lines {
  /** Counts the readings, so that what depends on them is drawn again. */
  tick = $state(0);
  /** Seconds since 1970 of each reading. */
  readonly #times = new Float64Array(ROOM);
  /** The values of each name; not a number where a reading has none. */
  readonly #columns = new Map<string, Float64Array>();
  #length = 0;

  /** The newest value of a column. */
  newest(name: string): number | null {
    return value(this.#columns.get(name), this.#length - 1);
  }

  /** The times of the last so many seconds, and the values of these columns. */
  latest(seconds: number, names: string[]): [number[], ...(number | null)[][]] {
    const end = this.#length > 0 ? this.#times[this.#length - 1]! : 0;
    let begin = this.#length;
    while (begin > 0 && this.#times[begin - 1]! > end - seconds - 2) begin -= 1;
    const times = [...this.#times.subarray(begin, this.#length)];
    return [
      times,
      ...names.map((name) => {
        const column = this.#columns.get(name);
        return times.map((_, place) => value(column, begin + place));
      }),
    ];
  }

  protected push(time: number, point: Map<string, number | null>): void {
    if (this.#length === ROOM) {
      for (const kept of [this.#times, ...this.#columns.values()]) kept.copyWithin(0, DROPPED);
      this.#length -= DROPPED;
    }
    for (const name of point.keys()) {
      if (!this.#columns.has(name)) this.#columns.set(name, new Float64Array(ROOM).fill(NaN));
    }
    this.#times[this.#length] = time;
    for (const [name, column] of this.#columns) column[this.#length] = point.get(name) ?? NaN;
    this.#length += 1;
  }
}

function value(column: Float64Array | undefined, place: number): number | null {
  const found = column?.[place] ?? NaN;
  return Number.isNaN(found) ? null : found;
}
