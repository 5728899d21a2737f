// What a page reads of what its user has chosen.
import { asProblem, type Problem } from './api';

/**
 * What was read for one choice. With another choice it is gone at once, and an answer that comes after a newer one,
 * or after another choice, is dropped. Each page did that for itself, and showed one thing under the name of another.
 */
export class Chosen<Found> {
  found = $state.raw<Found | null>(null);
  problem = $state.raw<Problem | null>(null);
  #of = '';
  #asked = 0;
  /** Answers to earlier questions come too late. */
  #first = 0;

  choose(of: string): void {
    if (of === this.#of) return;
    this.#of = of;
    this.#asked += 1;
    this.#first = this.#asked;
    this.found = null;
    this.problem = null;
  }

  /** Reads for a choice, which is not empty. */
  async read(of: string, ask: () => Promise<Found>): Promise<void> {
    this.choose(of);
    this.#asked += 1;
    const number = this.#asked;
    const isNews = () => {
      if (number < this.#first) return false;
      this.#first = number;
      return true;
    };
    try {
      const found = await ask();
      if (!isNews()) return;
      this.found = found;
      this.problem = null;
    } catch (failure) {
      if (!isNews()) return;
      this.problem = asProblem(failure);
      // What cannot be read just now is still what it was.
      if (!this.problem.retryable) this.found = null;
    }
  }
}
