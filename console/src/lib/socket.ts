// WebSockets that come back by themselves.
import { address, ask, type Given } from './api';
import type { Standing } from './follow';
import { session } from './session.svelte';

export interface Connected {
  say(message: Record<string, unknown>): void;
  close(): void;
}

/** Between two signs of life, in ms. */
const BEAT_MS = 30_000;

/** Opens a socket, with a ticket where the server asks for one, and another when it is gone. */
export function connect(
  path: string,
  query: Given['query'],
  standing: (now: Standing) => void,
  heard: (text: string) => void = () => {},
): Connected {
  let socket: WebSocket | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let wait = 250;
  let isClosed = false;
  const say = (message: Record<string, unknown>) => {
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  };
  const again = () => {
    if (isClosed) return;
    standing('lost');
    timer = setTimeout(() => void open(), wait);
    wait = Math.min(wait * 2, 5_000);
  };
  const open = async () => {
    try {
      const ticket = session.caller?.guarded ? (await ask<{ ticket: string }>('POST', '/v1/tickets')).ticket : undefined;
      if (isClosed) return;
      const place = address(path, { ...query, ticket });
      socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}${place}`);
      socket.onopen = () => {
        wait = 250;
        standing('live');
      };
      socket.onmessage = (event: MessageEvent<string>) => heard(event.data);
      socket.onclose = again;
    } catch {
      again();
    }
  };
  const beat = setInterval(() => say({ op: 'ping' }), BEAT_MS);
  standing('connecting');
  void open();
  return {
    say,
    close() {
      isClosed = true;
      clearTimeout(timer);
      clearInterval(beat);
      socket?.close();
    },
  };
}
