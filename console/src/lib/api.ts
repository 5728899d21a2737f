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
  const title = 'The server does not answer';
  return new Problem(0, 'unreachable', title, 'the page tries again by itself', true, [], {});
}

/** What changes the state says of a browser session. */
export const credentials: { csrf: string | null } = { csrf: null };

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

async function problemOf(response: Response): Promise<Problem> {
  const body: Record<string, unknown> = await response.json().catch(() => ({}));
  const text = (name: string) => (typeof body[name] === 'string' ? (body[name] as string) : '');
  const errors = Array.isArray(body.errors) ? (body.errors as FieldError[]) : [];
  const title = text('title') || `The server answers ${response.status}`;
  return new Problem(response.status, text('code'), title, text('detail'), body.retryable === true, errors, body);
}

/** Sends a request; a command has a key, so that sending it again is safe. */
export async function send(method: string, path: string, given: Given = {}): Promise<Response> {
  const headers: Record<string, string> = { ...given.headers };
  if (given.body !== undefined) headers['Content-Type'] = 'application/json';
  if (method !== 'GET' && credentials.csrf) headers['X-CSRF-Token'] = credentials.csrf;
  const body = given.body === undefined ? undefined : JSON.stringify(given.body);
  try {
    return await fetch(address(path, given.query), { method, headers, body, signal: given.signal, cache: 'no-store' });
  } catch (failure) {
    if (given.signal?.aborted) throw failure;
    throw unreachable();
  }
}

export async function ask<T>(method: string, path: string, given: Given = {}): Promise<T> {
  const response = await send(method, path, given);
  if (!response.ok) throw await problemOf(response);
  return (await response.json()) as T;
}

export const get = <T>(path: string, query?: Given['query'], signal?: AbortSignal) =>
  ask<T>('GET', path, { query, signal });

/** A key for a command: the same click sends the same command once, also when it is sent again. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return `console-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** Sends a command. One that got no answer is sent once more under its key. */
export async function command<T>(method: string, path: string, body?: unknown): Promise<T> {
  const headers = { 'Idempotency-Key': newKey() };
  try {
    return await ask<T>(method, path, { body, headers });
  } catch (problem) {
    if (!(problem instanceof Problem) || problem.code !== 'unreachable') throw problem;
    return await ask<T>(method, path, { body, headers });
  }
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
