// Requests to the server. Every page uses the public API, as any other client.

export interface FieldError {
  in: string;
  field: string;
  message: string;
}

/** An answer that is no success: the server's problem document. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly title: string,
    readonly detail: string,
    readonly retryable: boolean,
    readonly errors: FieldError[],
    readonly body: Record<string, unknown>,
  ) {
    super(detail || title);
  }

  /** What happened, in one line. */
  get text(): string {
    const fields = this.errors.map((one) => `${one.field}: ${one.message}`).join('; ');
    const detail = fields || this.detail;
    return detail && detail !== this.title ? `${this.title}: ${detail}` : this.title;
  }
}

/** The server did not answer at all. */
export function unreachable(): Problem {
  return new Problem(0, 'unreachable', 'The server does not answer', '', true, [], {});
}

/** What changes the state says of a browser session, and who is told that the server knows it no longer. */
export const credentials: { csrf: string | null; over: () => void } = { csrf: null, over: () => {} };

export interface Given {
  query?: Record<string, string | number | undefined>;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export interface Answer<T> {
  status: number;
  data: T;
  headers: Headers;
}

export function address(path: string, query: Given['query'] = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text ? `${path}?${text}` : path;
}

/** A part of a path. */
export const part = encodeURIComponent;

export async function problemOf(response: Response): Promise<Problem> {
  const body: Record<string, unknown> = await response.json().catch(() => ({}));
  const text = (name: string) => (typeof body[name] === 'string' ? (body[name] as string) : '');
  const errors = Array.isArray(body.errors) ? (body.errors as FieldError[]) : [];
  const title = text('title') || `The server answers ${response.status}`;
  return new Problem(response.status, text('code'), title, text('detail'), body.retryable === true, errors, body);
}

/** Sends a request. */
export async function send(method: string, path: string, given: Given = {}): Promise<Response> {
  const headers: Record<string, string> = { ...given.headers };
  if (given.body !== undefined) headers['Content-Type'] = 'application/json';
  if (method !== 'GET' && credentials.csrf) headers['X-CSRF-Token'] = credentials.csrf;
  const body = given.body === undefined ? undefined : JSON.stringify(given.body);
  try {
    const response = await fetch(address(path, given.query), { method, headers, body, signal: given.signal, cache: 'no-store' });
    // A key that was shown with the request, and is wrong, says nothing of the session.
    if (response.status === 401 && !headers.Authorization) credentials.over();
    return response;
  } catch (failure) {
    if (given.signal?.aborted) throw failure;
    throw unreachable();
  }
}

export async function ask<T>(method: string, path: string, given: Given = {}): Promise<T> {
  const response = await send(method, path, given);
  if (!response.ok) throw await problemOf(response);
  try {
    return (await response.json()) as T;
  } catch (failure) {
    if (given.signal?.aborted) throw failure;
    throw unreachable();
  }
}

export const get = <T>(path: string, query?: Given['query'], signal?: AbortSignal) =>
  ask<T>('GET', path, { query, signal });

export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return `console-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** Before each further sending of a command without an answer, in ms. */
const PAUSES = [250, 500, 1_000, 2_000];
/** So long after it was sent a command without a final answer is known by its content, in ms. */
const UNDECIDED_MS = 600_000;
/** The commands without a final answer, by their content: the key of each, and when it was sent last. */
const undecided = new Map<string, { key: string; sent: number }>();

/** Whether nobody knows if the command was done. */
const isUnknown = ({ code }: Problem) => code === 'unreachable' || code === 'outcome_unknown';

/** Whether the server has decided the command, or never will. Others may be answers to its repetition only. */
export function isFinal(problem: Problem): boolean {
  if (isUnknown(problem)) return false;
  const { status, body } = problem;
  return body.position !== undefined || (status >= 400 && status < 500 && ![401, 403, 408, 429].includes(status));
}

/**
 * Sends a command under a key, again after a pause while no answer comes. Until there is a final answer, the same
 * content goes under the same key: a second click does what the first was to do, once.
 */
export async function command<T>(method: string, path: string, body?: unknown): Promise<T> {
  const content = JSON.stringify([method, path, body]);
  for (const [one, { sent }] of undecided) if (Date.now() - sent > UNDECIDED_MS) undecided.delete(one);
  const { key } = undecided.get(content) ?? { key: newKey() };
  undecided.set(content, { key, sent: Date.now() });
  const decide = () => undecided.get(content)?.key === key && undecided.delete(content);
  let isLost = false;
  for (const pause of [...PAUSES, 0]) {
    try {
      const data = await ask<T>(method, path, { body, headers: { 'Idempotency-Key': key } });
      decide();
      return data;
    } catch (failure) {
      if (!(failure instanceof Problem)) throw failure;
      if (isFinal(failure)) decide();
      isLost ||= isUnknown(failure);
      if (!isLost || isFinal(failure)) throw failure;
      await new Promise((done) => setTimeout(done, pause));
    }
  }
  const detail = 'do the same again without a change: the server does it once only';
  throw new Problem(0, 'outcome_unknown', 'No answer came, so this may have been done', detail, true, [], {});
}

/** The pages of a listing, one after the other, and whether there are more. */
export async function* pages<T>(
  path: string,
  member: string,
  query: Given['query'] = {},
  signal?: AbortSignal,
): AsyncGenerator<{ items: T[]; more: boolean }> {
  let cursor: string | undefined;
  do {
    const answer = await get<Record<string, unknown>>(path, { ...query, cursor }, signal);
    cursor = typeof answer.next === 'string' ? answer.next : undefined;
    yield { items: (answer[member] as T[] | undefined) ?? [], more: cursor !== undefined };
  } while (cursor !== undefined);
}

/** All pages of a listing, up to a number of them. */
export async function all<T>(
  path: string,
  member: string,
  query: Given['query'] = {},
  signal?: AbortSignal,
  most = 1_000,
): Promise<{ items: T[]; more: boolean }> {
  const items: T[] = [];
  let read = 0;
  for await (const page of pages<T>(path, member, query, signal)) {
    items.push(...page.items);
    read += 1;
    if (read === most) return { items, more: page.more };
  }
  return { items, more: false };
}

export const asProblem = (failure: unknown): Problem =>
  failure instanceof Problem
    ? failure
    : new Problem(0, 'page', 'The page failed', failure instanceof Error ? failure.message : String(failure), false, [], {});
