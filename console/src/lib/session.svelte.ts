// Who looks at the page, and what that caller may do.
import { ask, asProblem, credentials, get, Problem } from './api';

interface Grant {
  role: string;
  only: string[];
}

interface Caller {
  principal: string;
  guarded: boolean;
  grants: Grant[];
}

export type Right = 'read' | 'use' | 'manage';

const STRENGTH: Record<string, number> = { reader: 1, user: 2, manager: 3 };
const NEEDED: Record<Right, number> = { read: 1, use: 2, manage: 3 };

/** What changes are sent with; nothing for a caller with a certificate, who needs no session. */
async function ownToken(): Promise<string | null> {
  try {
    return (await get<{ csrf_token: string }>('/v1/session')).csrf_token;
  } catch (failure) {
    if (asProblem(failure).status === 404) return null;
    throw failure;
  }
}

class Session {
  phase = $state<'starting' | 'login' | 'open'>('starting');
  caller = $state<Caller | null>(null);
  problem = $state<Problem | null>(null);

  constructor() {
    credentials.over = () => {
      // A page may be open from before the first key: it may show that key.
      if (this.phase === 'open' && this.caller?.guarded) this.#end();
    };
  }

  /** Finds out who asks; the server says whether it wants a key. */
  async start(): Promise<void> {
    try {
      const caller = await get<Caller>('/v1/access/whoami');
      if (caller.guarded) credentials.csrf = await ownToken();
      this.caller = caller;
      this.problem = null;
      this.phase = 'open';
    } catch (failure) {
      const problem = asProblem(failure);
      if (problem.status === 401) {
        this.problem = null;
        this.phase = 'login';
        return;
      }
      this.problem = problem;
      setTimeout(() => void this.start(), 1_000);
    }
  }

  async login(key: string): Promise<void> {
    const headers = { Authorization: `Bearer ${key}` };
    const own = await ask<{ csrf_token: string }>('POST', '/v1/session', { headers });
    credentials.csrf = own.csrf_token;
    await this.start();
  }

  /** Ends the session, here also when the server does not hear of it: the login says so then. */
  async logout(): Promise<void> {
    const failed = await ask('DELETE', '/v1/session').then(() => null, asProblem);
    this.#end();
    // What the server does not know has ended.
    if (failed && failed.status !== 401 && failed.status !== 404) {
      const title = 'The server was not told that you log out';
      this.problem = new Problem(failed.status, failed.code, title, failed.text, failed.retryable, [], {});
    }
  }

  #end(): void {
    credentials.csrf = null;
    this.caller = null;
    this.problem = null;
    this.phase = 'login';
  }

  /** Whether a role of the caller gives this right; the server decides again, for each thing. */
  may(service: string, right: Right): boolean {
    const grants = this.caller?.grants ?? [];
    return grants.some(({ role }) => {
      if (role === 'admin') return true;
      if (service === 'access') return false;
      const [first, second] = role.split('.');
      const word = second === undefined ? first : first === service ? second : '';
      return (STRENGTH[word ?? ''] ?? 0) >= NEEDED[right];
    });
  }

  get mayOperate(): boolean {
    return (this.caller?.grants ?? []).some(({ role }) => role === 'admin' || role === 'operator');
  }
}

export const session = new Session();
