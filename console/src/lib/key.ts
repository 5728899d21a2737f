// New keys, made in the page: the server gets their digest only.

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const ID_LENGTH = 12;
const SECRET_LENGTH = 52;

export interface NewKey {
  /** The whole text, shown once. */
  text: string;
  id: string;
  digest: string;
}

/** Characters of the alphabet, five random bits each. */
function drawn(length: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(length));
  return Array.from(bytes, (byte) => ALPHABET[byte & 31]).join('');
}

/** Whether the browser can make keys: it digests over HTTPS and on loopback only. */
export const canMakeKeys = (): boolean => globalThis.crypto?.subtle !== undefined;

export async function makeKey(): Promise<NewKey> {
  const id = drawn(ID_LENGTH);
  const text = `ts_live_${id}_${drawn(SECRET_LENGTH)}`;
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
  return { text, id, digest: Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('') };
}
