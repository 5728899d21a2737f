// A page that nobody touches logs out. The server cannot see that: what a page reads by itself is a use of its session.

/** So long nobody may touch a page, in ms; the server's own time for a session that is not used. */
const REST_MS = 3_600_000;
/** Between two looks at the time, in ms. */
const LOOK_MS = 10_000;
const TOUCHES = ['pointerdown', 'keydown', 'wheel'];

/** Calls `over` when no tab of the console was touched for too long. */
export function rest(over: () => void): () => void {
  let touched = Date.now();
  // All tabs have one session.
  const tabs = new BroadcastChannel('turnstile-touched');
  tabs.onmessage = () => (touched = Date.now());
  const touch = () => {
    const now = Date.now();
    if (now - touched > LOOK_MS) tabs.postMessage(null);
    touched = now;
  };
  for (const kind of TOUCHES) addEventListener(kind, touch, { capture: true, passive: true });
  const timer = setInterval(() => Date.now() - touched > REST_MS && over(), LOOK_MS);
  return () => {
    clearInterval(timer);
    tabs.close();
    for (const kind of TOUCHES) removeEventListener(kind, touch, { capture: true });
  };
}
