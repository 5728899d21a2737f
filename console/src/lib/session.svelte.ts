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

class Session {
  phase = $state<'starting' | 'login' | 'open'>('starting');
  caller = $state<Caller | null>(null);
  problem = $state<Problem | null>(null);

  /** Finds out who asks; the server says whether it wants a key. */
  async start(): Promise<void> {
    try {
      this.caller = await get<Caller>('/v1/access/whoami');
      if (this.caller.guarded) {
        const own = await get<{ csrf_token: string }>('/v1/session').catch(() => null);
        credentials.csrf = own?.csrf_token ?? null;
      }
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

  async logout(): Promise<void> {
    await ask('DELETE', '/v1/session');
    credentials.csrf = null;
    this.caller = null;
    this.phase = 'login';
  }

  /** Another request was refused because the session is over. */
  over(): void {
    if (this.phase === 'open' && this.caller?.guarded) {
      credentials.csrf = null;
      this.caller = null;
      this.phase = 'login';
    }
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
