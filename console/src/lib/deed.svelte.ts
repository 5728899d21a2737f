// What a page has done last.
import { asProblem, type Problem } from './api';

/** Something done on request: a sentence that says what came of it, or why it was not done. */
export class Deed {
  busy = $state(false);
  said = $state('');
  failed = $state.raw<Problem | null>(null);

  async act(what: () => Promise<string>): Promise<void> {
    this.busy = true;
    this.failed = null;
    this.said = '';
    try {
      this.said = await what();
    } catch (failure) {
      this.failed = asProblem(failure);
    } finally {
      this.busy = false;
    }
  }
}
