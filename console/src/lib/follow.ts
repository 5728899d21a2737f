// Event streams that come back by themselves.
import { send } from './api';
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

/**
 * Follows an event stream. `heard` takes each event; `stale` says that events may be missing, at the begin, after
 * a reset and after each reconnection: what is shown must be read again.
 */
export function follow(
  path: string,
  heard: (event: Record<string, unknown>, kind: string) => void,
  stale: () => void,
  standing: (now: Standing) => void,
): Followed {
  const stop = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let wait = 250;
  const open = async () => {
    standing('connecting');
    try {
      const response = await send('GET', path, { headers: { Accept: 'text/event-stream' }, signal: stop.signal });
      if (response.status === 401) session.over();
      if (response.ok && response.body) {
        wait = 250;
        standing('live');
        stale();
        await events(response.body, (kind, data) => {
          if (kind === 'reset' || kind === 'lagged') stale();
          else heard(JSON.parse(data) as Record<string, unknown>, kind);
        });
      }
    } catch {
      // The connection is gone: what follows is the same as after its end.
    }
    if (stop.signal.aborted) return;
    standing('lost');
    timer = setTimeout(() => void open(), wait);
    wait = Math.min(wait * 2, 5_000);
  };
  void open();
  return {
    close() {
      stop.abort();
      clearTimeout(timer);
    },
  };
}
