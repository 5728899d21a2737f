// What the server counts, read once a second from `/metrics`, and what follows from two readings: rates and
// percentiles.
import { asProblem, send, unreachable, type Problem } from './api';
import { Lines } from './lines.svelte';

export const SERVICES = ['rooms', 'seats', 'exchange', 'games', 'travel'] as const;

const EVERY_MS = 1_000;

type Reading = Map<string, number>;

/** The samples of the classic text format, by name and labels as they stand there. */
export function parse(text: string): Reading {
  const reading: Reading = new Map();
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const space = line.lastIndexOf(' ');
    reading.set(line.slice(0, space).replace(/^turnstile_/, ''), Number(line.slice(space + 1)));
  }
  return reading;
}

/** The labelled samples of a metric: the value of the label, and the number. */
export function labelled(reading: Reading, metric: string, label: string): [string, number][] {
  const begin = `${metric}{`;
  const found: [string, number][] = [];
  for (const [name, value] of reading) {
    if (!name.startsWith(begin)) continue;
    const text = new RegExp(`${label}="([^"]*)"`).exec(name)?.[1];
    if (text !== undefined) found.push([text, value]);
  }
  return found;
}

/**
 * The bound of a histogram below which this share of the new observations lies, between two readings, with a line
 * drawn through the bucket. Nothing where there are none.
 */
export function quantile(before: Reading, after: Reading, metric: string, share: number): number | null {
  const counts = labelled(after, `${metric}_bucket`, 'le').map(([le, count]) => {
    const was = before.get(`${metric}_bucket{le="${le}"}`) ?? 0;
    return [le === '+Inf' ? Infinity : Number(le), count - was] as const;
  });
  const all = counts.at(-1)?.[1] ?? 0;
  if (all <= 0) return null;
  let below = 0;
  let bound = 0;
  for (const [le, count] of counts) {
    if (count >= share * all) {
      if (le === Infinity) return bound;
      const inside = count - below;
      return inside <= 0 ? le : bound + ((share * all - below) / inside) * (le - bound);
    }
    below = count;
    bound = le;
  }
  return null;
}

class Telemetry extends Lines {
  problem = $state<Problem | null>(null);
  version = $state('');
  now: Reading = new Map();
  /** The first reading since the server or the page started. */
  first: Reading = new Map();
  #before: Reading | null = null;
  #at = 0;

  start(): () => void {
    let stopped = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const again = async () => {
      const begun = performance.now();
      await this.#read();
      if (!stopped) timer = setTimeout(again, Math.max(100, EVERY_MS - (performance.now() - begun)));
    };
    void again();
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }

  async #read(): Promise<void> {
    try {
      const response = await send('GET', '/metrics', { headers: { Accept: 'text/plain' } });
      if (!response.ok) throw unreachable();
      this.#take(parse(await response.text()), performance.now() / 1_000);
      this.problem = null;
    } catch (failure) {
      this.problem = asProblem(failure);
      this.#before = null;
    }
  }

  #take(reading: Reading, at: number): void {
    const before = this.#before;
    // After a restart counters begin anew: a rate over it would be none.
    const isOne = before !== null && (reading.get('uptime_seconds') ?? 0) >= (before.get('uptime_seconds') ?? 0);
    this.now = reading;
    this.#before = reading;
    if (this.version === '') {
      const build = labelled(reading, 'build_info', 'version')[0];
      this.version = build?.[0] ?? '';
    }
    if (isOne) {
      this.push(Date.now() / 1_000, values(before, reading, at - this.#at));
    } else {
      this.first = reading;
    }
    this.#at = at;
    this.tick += 1;
  }
}

/** What is drawn, from two readings. */
function values(before: Reading, after: Reading, elapsed: number): Map<string, number | null> {
  const point = new Map<string, number | null>();
  const rate = (name: string) => Math.max(0, (after.get(name) ?? 0) - (before.get(name) ?? 0)) / elapsed;
  for (const service of [...SERVICES, 'access']) {
    let refused = 0;
    for (const [code] of labelled(after, `${service}_outcomes_total`, 'code')) {
      const each = rate(`${service}_outcomes_total{code="${code}"}`);
      if (code === 'done') point.set(`done:${service}`, each);
      else refused += each;
    }
    point.set(`refused:${service}`, refused);
  }
  point.set('commit:p50', quantile(before, after, 'commit_seconds', 0.5));
  point.set('commit:p99', quantile(before, after, 'commit_seconds', 0.99));
  const groups = rate('groups_total');
  point.set('groups', groups);
  point.set('records', rate('records_total'));
  point.set('group:size', groups > 0 ? rate('records_total') / groups : null);
  for (const [door, open] of labelled(after, 'connections', 'door')) point.set(`connections:${door}`, open);
  point.set('memory', after.get('process_resident_memory_bytes') ?? null);
  point.set('cpu', rate('process_cpu_seconds_total'));
  point.set('journal', after.get('journal_bytes') ?? null);
  point.set('snapshots', after.get('snapshot_bytes') ?? null);
  return point;
}

export const telemetry = new Telemetry();
