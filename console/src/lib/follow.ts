// Event streams that come back by themselves.
import { Problem, problemOf, send } from './api';
import { DRAWN_MS, Paced } from './paced';

/** Whether what is shown follows the server. With a problem the server gives no stream: the page reads again. */
export type Standing = 'connecting' | 'live' | 'lost' | Problem;

export interface Followed {
  close(): void;
}

/** An event in a list: in a stream of several partitions only all three are its own. */
export const eventKey = (one: { partition?: string; position: number; ordinal: number }) =>
  `${one.partition ?? ''}.${one.position}.${one.ordinal}`;

/** The lines of the events of a stream, those that came together at once. */
export async function* pieces(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string[]> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const whole = (rest + value).split('\n\n');
    rest = whole.pop() ?? '';
    yield whole;
  }
}

/** Takes the events of a stream one by one: the kind, and the data as text. */
async function events(body: ReadableStream<Uint8Array<ArrayBuffer>>, take: (kind: string, data: string) => void): Promise<void> {
  for await (const whole of pieces(body)) {
    for (const piece of whole) {
      const line = (name: string) => piece.split('\n').find((one) => one.startsWith(`${name}: `))?.slice(name.length + 2);
      const data = line('data');
      if (data !== undefined) take(line('event') ?? 'message', data);
    }
  }
}

/** Between two readings where the server gives no stream, in ms. */
export const READ_AGAIN_MS = 5_000;

/** Who is refused a stream so does not ask again: a caller without the right to all, a service in a database. */
const REFUSED = [403, 501];

/** More events than that at once are not told: to read all again is less work. */
const TOLD_MAX = 10_000;

/**
 * Follows an event stream. `heard` takes events as they come, those of a tenth of a second together; `stale` says
 * that events may be missing, at the begin, after a reset and after each reconnection: what is shown must be read
 * again. That is also done in place of a stream that the server does not give.
 */
export function follow<Told>(
  path: string,
  heard: (events: Told[]) => void,
  stale: () => Promise<unknown>,
  standing: (now: Standing) => void,
): Followed {
  let stop = new AbortController();
  let came: Told[] = [];
  const tell = new Paced(DRAWN_MS, () => {
    const events = came;
    came = [];
    if (events.length > TOLD_MAX) void stale();
    else if (events.length > 0) heard(events);
  });
  let isRead = false;
  const begin = () => {
    tell.now();
    isRead = true;
    return stale();
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  let wait = 250;
  const open = async () => {
    const { signal } = stop;
    let refused: Problem | null = null;
    try {
      const response = await send('GET', path, { headers: { Accept: 'text/event-stream' }, signal });
      if (!response.ok) refused = await problemOf(response);
      else if (response.body) {
        wait = 250;
        standing('live');
        void begin();
        await events(response.body, (kind, data) => {
          if (kind === 'reset' || kind === 'lagged') void begin();
          else if (came.length <= TOLD_MAX) came.push(JSON.parse(data) as Told);
          tell.ask();
        });
      }
    } catch {
      // The connection is gone: what follows is the same as after its end.
    }
    if (signal.aborted) return;
    standing(refused ?? 'lost');
    if (refused && REFUSED.includes(refused.status)) return void readAgain();
    if (refused || !isRead) await begin();
    if (signal.aborted) return;
    timer = setTimeout(() => void open(), wait);
    wait = Math.min(wait * 2, 5_000);
  };
  const readAgain = async () => {
    const { signal } = stop;
    await begin();
    if (!signal.aborted) timer = setTimeout(() => void readAgain(), READ_AGAIN_MS);
  };
  const leave = () => {
    stop.abort();
    clearTimeout(timer);
  };
  // A browser keeps a page that was left, and has few connections for a server.
  const comeBack = ({ persisted }: PageTransitionEvent) => {
    if (!persisted) return;
    stop = new AbortController();
    standing('connecting');
    void open();
  };
  addEventListener('pagehide', leave);
  addEventListener('pageshow', comeBack);
  standing('connecting');
  void open();
  return {
    close() {
      leave();
      tell.stop();
      removeEventListener('pagehide', leave);
      removeEventListener('pageshow', comeBack);
    },
  };
}
