// The operations of the server, as its own description names them, and lines that ask for the same elsewhere.
import { get, part } from './api';

export interface Schema {
  type?: string | string[];
  enum?: (string | null)[];
  items?: Schema;
  description?: string;
  examples?: unknown[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
  format?: string;
}

export interface Field {
  name: string;
  in: 'path' | 'query' | 'body' | 'header';
  required: boolean;
  schema: Schema;
  about: string;
}

export interface Operation {
  id: string;
  method: string;
  path: string;
  summary: string;
  tag: string;
  right?: string;
  /** How RESP asks for the same, word by word. */
  resp?: string[];
  fields: Field[];
  answers: 'json' | 'events' | 'socket' | 'text';
}

interface Described {
  operationId: string;
  summary: string;
  tags: string[];
  parameters?: { name: string; in: Field['in']; required?: boolean; schema: Schema; description?: string }[];
  requestBody?: { content: Record<string, { schema: { $ref: string } }> };
  responses: Record<string, { content?: Record<string, unknown> }>;
  'x-turnstile'?: { right?: string; resp?: string[] };
}

interface Document {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, { properties?: Record<string, Schema>; required?: string[] }> };
}

let known: Promise<Operation[]> | undefined;

/** All operations, in the order of the description. */
export function catalogue(): Promise<Operation[]> {
  known ??= get<Document>('/openapi.json').then(read);
  known.catch(() => (known = undefined));
  return known;
}

function read(document: Document): Operation[] {
  const operations: Operation[] = [];
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, described] of Object.entries(methods)) operations.push(operation(document, path, method, described));
  }
  return operations;
}

function operation(document: Document, path: string, method: string, described: Described): Operation {
  const fields: Field[] = (described.parameters ?? []).map((one) => ({
    name: one.name,
    in: one.in,
    required: one.required ?? false,
    schema: one.schema,
    about: one.description ?? one.schema.description ?? '',
  }));
  const body = described.requestBody?.content['application/json']?.schema.$ref.split('/').pop();
  const shape = body === undefined ? undefined : document.components.schemas[body];
  const required = shape?.required ?? [];
  const names = Object.keys(shape?.properties ?? {});
  for (const name of [...required, ...names.filter((one) => !required.includes(one))]) {
    const schema = shape?.properties?.[name] ?? {};
    fields.push({ name, in: 'body', required: required.includes(name), schema, about: schema.description ?? '' });
  }
  const content = Object.keys(described.responses['200']?.content ?? described.responses['201']?.content ?? {});
  const answers = described.responses['101']
    ? 'socket'
    : content.includes('text/event-stream')
      ? 'events'
      : content.includes('application/json')
        ? 'json'
        : 'text';
  return {
    id: described.operationId,
    method: method.toUpperCase(),
    path,
    summary: described.summary,
    tag: described.tags[0] ?? 'server',
    right: described['x-turnstile']?.right,
    resp: described['x-turnstile']?.resp,
    // What the path names comes first, the rest as it stands there.
    fields: [...fields.filter((one) => one.in === 'path'), ...fields.filter((one) => one.in === 'body'), ...fields.filter((one) => one.in === 'query' || one.in === 'header')],
    answers,
  };
}

export const kindOf = (schema: Schema): string => {
  const types = Array.isArray(schema.type) ? schema.type : [schema.type ?? 'string'];
  return types.find((one) => one !== 'null') ?? 'string';
};

/** What to write into an empty field. */
export function example(field: Field): string {
  const { schema } = field;
  // A stay ends after it has begun.
  if (schema.format === 'date' && ['departure', 'to'].includes(field.name)) return '2027-05-03';
  const first = schema.examples?.[0] ?? schema.items?.examples?.[0] ?? schema.enum?.[0] ?? schema.default;
  if (first !== undefined && first !== null) return String(first);
  return kindOf(schema) === 'integer' ? String(Math.max(1, schema.minimum ?? 1)) : field.name;
}

/** The value of a field as JSON has it. */
export function typed(field: Field, text: string): unknown {
  switch (kindOf(field.schema)) {
    case 'integer':
    case 'number':
      return Number.isFinite(Number(text)) && text.trim() !== '' ? Number(text) : text;
    case 'boolean':
      return text === 'true';
    case 'array':
      return text.split('\n').filter((line) => line.trim() !== '');
    default:
      return text;
  }
}

export type Values = Record<string, string>;

export interface Asked {
  method: string;
  path: string;
  query: Record<string, string>;
  headers: Record<string, string>;
  body?: Record<string, unknown>;
}

/** The request of a form; what is needed and was not given has its example where the lines are shown. */
export function asked(one: Operation, values: Values, withExamples: boolean): Asked {
  let path = one.path;
  const query: Record<string, string> = {};
  const headers: Record<string, string> = {};
  let body: Record<string, unknown> | undefined = one.fields.some((field) => field.in === 'body') ? {} : undefined;
  for (const field of one.fields) {
    const given = values[field.name] ?? '';
    const text = given === '' && withExamples && field.required ? example(field) : given;
    if (field.in === 'path') path = path.replace(`{${field.name}}`, part(text));
    else if (text === '') continue;
    else if (field.in === 'query') query[field.name] = text;
    else if (field.in === 'header') headers[field.name] = text;
    else body = { ...body, [field.name]: typed(field, text) };
  }
  return { method: one.method, path, query, headers, body };
}

/** A word for a shell, in quotes where it needs them. */
export const quoted = (text: string): string =>
  /^[A-Za-z0-9_./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

export interface Line {
  name: string;
  text: string;
}

/** Lines that ask for the same, ready to paste. */
export function lines(one: Operation, values: Values, origin: string, guarded: boolean): Line[] {
  const request = asked(one, values, true);
  const search = new URLSearchParams(request.query).toString();
  const url = `${origin}${request.path}${search ? `?${search}` : ''}`;
  if (one.answers === 'socket') return [{ name: 'websocat', text: `websocat ${quoted(url.replace(/^http/, 'ws'))}` }];
  const found = [
    { name: 'curl', text: curl(one, request, url, guarded) },
    { name: 'Python', text: python(request, url, guarded) },
    { name: 'TypeScript', text: typescript(request, url, guarded) },
  ];
  const resp = redis(one, values, guarded);
  if (resp) found.splice(1, 0, { name: 'redis-cli', text: resp });
  return found;
}

function curl(one: Operation, request: Asked, url: string, guarded: boolean): string {
  const words = ['curl'];
  if (one.answers === 'events') words.push('-N');
  if (request.method !== 'GET' && !(request.method === 'POST' && request.body)) words.push('-X', request.method);
  words.push(quoted(url));
  const more: string[] = [];
  if (guarded) more.push(`-H "Authorization: Bearer $TURNSTILE_KEY"`);
  for (const [name, value] of Object.entries(request.headers)) more.push(`-H ${quoted(`${name}: ${value}`)}`);
  if (request.body) more.push(`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(request.body))}`);
  return [words.join(' '), ...more].join(' \\\n  ');
}

function redis(one: Operation, values: Values, guarded: boolean): string | null {
  if (!one.resp) return null;
  const [command, ...words] = one.resp;
  const value = (name: string) => {
    const field = one.fields.find((each) => each.name === name);
    const given = values[name] ?? '';
    return given === '' && field?.required ? example(field) : given;
  };
  const out = [command!];
  for (const word of words) {
    const inside = /^\[(.*)\]$/.exec(word)?.[1];
    if (inside !== undefined) {
      const [option, name] = inside.split(' ');
      const given = value(name ?? option!.toLowerCase());
      if (given === '' || (name === undefined && given === 'false')) continue;
      if (name !== undefined) out.push(option!, quoted(given));
      else out.push(option === option!.toUpperCase() ? option! : quoted(given));
      continue;
    }
    const [name, none] = word.replace(' ...', '').split('|');
    const given = value(name!);
    if (word.endsWith(' ...')) out.push(...given.split('\n').filter((line) => line !== '').map(quoted));
    else out.push(given === '' ? (none ?? quoted(name!)) : quoted(given));
  }
  const key = values['Idempotency-Key'];
  if (key && one.method !== 'GET') out.push('KEY', quoted(key));
  const login = guarded ? ' -a "$TURNSTILE_KEY"' : '';
  return `redis-cli -p 8479${login} ${out.join(' ')}`;
}

function python(request: Asked, url: string, guarded: boolean): string {
  const headers: string[] = Object.entries(request.headers).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`);
  if (request.body) headers.push('"Content-Type": "application/json"');
  if (guarded) headers.push('"Authorization": "Bearer " + os.environ["TURNSTILE_KEY"]');
  const body = request.body ? `json.dumps(${pythonic(request.body)}).encode()` : 'None';
  return [
    `import json, ${guarded ? 'os, ' : ''}urllib.request`,
    `request = urllib.request.Request(`,
    `    ${JSON.stringify(url)}, data=${body},`,
    `    method="${request.method}", headers={${headers.join(', ')}})`,
    `print(urllib.request.urlopen(request).read().decode())`,
  ].join('\n');
}

function pythonic(value: unknown): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(pythonic).join(', ')}]`;
  if (typeof value === 'object') {
    const members = Object.entries(value as object).map(([name, each]) => `${JSON.stringify(name)}: ${pythonic(each)}`);
    return `{${members.join(', ')}}`;
  }
  return JSON.stringify(value);
}

function typescript(request: Asked, url: string, guarded: boolean): string {
  const options: string[] = [];
  if (request.method !== 'GET') options.push(`  method: '${request.method}',`);
  const headers = Object.entries(request.headers).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`);
  if (request.body) headers.push(`'Content-Type': 'application/json'`);
  if (guarded) headers.push('Authorization: `Bearer ${process.env.TURNSTILE_KEY}`');
  if (headers.length > 0) options.push(`  headers: { ${headers.join(', ')} },`);
  if (request.body) options.push(`  body: JSON.stringify(${JSON.stringify(request.body)}),`);
  const call = options.length > 0 ? `, {\n${options.join('\n')}\n}` : '';
  return `const answer = await fetch(${JSON.stringify(url)}${call});\nconsole.log(answer.status, await answer.text());`;
}
