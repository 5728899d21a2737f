// Event streams that come back by themselves.
import { send } from './api';
import { DRAWN_MS, Paced } from './paced';
import { session } from './session.svelte';

export type Standing = 'connecting' | 'live' | 'lost';

export interface Followed {
  close(): void;
}

/** Takes the events of a stream one by one: the kind, and the data as text. */
export async function events(body: ReadableStream<Uint8Array<ArrayBuffer>>, take: (kind: string, data: string) => void): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const pieces = (rest + value).split('\n\n');
    rest = pieces.pop() ?? '';
    for (const piece of pieces) {
      const line = (name: string) => piece.split('\n').find((one) => one.startsWith(`${name}: `))?.slice(name.length + 2);
      const data = line('data');
      if (data !== undefined) take(line('event') ?? 'message', data);
    }
  }
}

/** More events than that at once are not told: to read all again is less work. */
const TOLD_MAX = 10_000;

/**
 * Follows an event stream. `heard` takes events as they come, those of a tenth of a second together; `stale` says
 * that events may be missing, at the begin, after a reset and after each reconnection: what is shown must be read
 * again.
 */
export function follow<Told>(
  path: string,
  heard: (events: Told[]) => void,
  stale: () => void,
  standing: (now: Standing) => void,
): Followed {
  let stop = new AbortController();
  let came: Told[] = [];
  const tell = new Paced(DRAWN_MS, () => {
    const events = came;
    came = [];
    if (events.length > TOLD_MAX) stale();
    else if (events.length > 0) heard(events);
  });
  const begin = () => {
    tell.now();
    stale();
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  let wait = 250;
  const open = async () => {
    const { signal } = stop;
    standing('connecting');
    try {
      const response = await send('GET', path, { headers: { Accept: 'text/event-stream' }, signal });
      if (response.status === 401) session.over();
      if (response.ok && response.body) {
        wait = 250;
        standing('live');
        begin();
        await events(response.body, (kind, data) => {
          if (kind === 'reset' || kind === 'lagged') begin();
          else if (came.length <= TOLD_MAX) came.push(JSON.parse(data) as Told);
          tell.ask();
        });
      }
    } catch {
      // The connection is gone: what follows is the same as after its end.
    }
    if (signal.aborted) return;
    standing('lost');
    timer = setTimeout(() => void open(), wait);
    wait = Math.min(wait * 2, 5_000);
  };
  const leave = () => {
    stop.abort();
    clearTimeout(timer);
  };
  // A browser keeps a page that was left, and has few connections for a server.
  const comeBack = ({ persisted }: PageTransitionEvent) => {
    if (!persisted) return;
    stop = new AbortController();
    void open();
  };
  addEventListener('pagehide', leave);
  addEventListener('pageshow', comeBack);
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
