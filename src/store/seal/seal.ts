// Seals secrets in a store's rows: AES-256-GCM with a key that is not in the rows. A sealed text is bound to its place, and
// opens nowhere else.

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

export interface Seal {
  /** Seals a text. `place`: the record that it belongs to, e.g. `webhook wh_…`. */
  seal(plain: string, place: string): string;
  /** Opens a text. Throws when it was changed, moved, never sealed, or sealed with another key. Opens a plain `{}` or `[]`: salvage writes them. */
  open(text: string, place: string): string;
  /** Opens a text without a cache, for long texts that are seldom opened twice. */
  openOnce(text: string, place: string): string;
  /** Returns 32 bytes for one purpose, the same for the life of the store. */
  derive(purpose: string): Uint8Array;
}

const CIPHER = 'aes-256-gcm';
/** The prefix of sealed texts: it names the format and its cipher. */
const MARK = 'sealed1:';
/** Plain texts that hide nothing. */
const EMPTY: ReadonlySet<string> = new Set(['{}', '[]']);
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
/** The size of the cache of opened texts. */
const KEPT_CHARS = 16 * 1024 * 1024;

export function isSealed(text: string): boolean {
  return text.startsWith(MARK);
}

/** Creates the seal. `key`: 32 bytes. */
export function createSeal(key: Uint8Array): Seal {
  // Every claim of a delivery reads its webhook, so opened texts are cached.
  const opened = new Map<string, string>();
  let keptChars = 0;

  function seal(plain: string, place: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(place));
    const sealed = Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return MARK + sealed.toString('base64');
  }

  function open(text: string, place: string): string {
    const known = opened.get(text + place);
    if (known !== undefined) return known;
    const plain = openOnce(text, place);
    keep(text + place, plain);
    return plain;
  }

  function openOnce(text: string, place: string): string {
    if (EMPTY.has(text)) return text;
    if (!isSealed(text)) throw new Error('a text that must be sealed is not');
    const bytes = Buffer.from(text.slice(MARK.length), 'base64');
    if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new Error('a sealed text is cut short');
    const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(place)).setAuthTag(bytes.subarray(-TAG_BYTES));
    return decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
  }

  function keep(name: string, plain: string): void {
    keptChars += name.length + plain.length;
    if (keptChars > KEPT_CHARS) {
      opened.clear();
      keptChars = name.length + plain.length;
    }
    if (keptChars <= KEPT_CHARS) opened.set(name, plain);
  }

  function derive(purpose: string): Uint8Array {
    return new Uint8Array(hkdfSync('sha256', key, '', purpose, KEY_BYTES));
  }

  return { seal, open, openOnce, derive };
}
