// What is secret in a store's rows is sealed: AES-256-GCM with a key that is not in the rows. Each sealed text is bound to
// where it stands, so that it opens nowhere else.

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

export interface Seal {
  /** `place`: what it belongs to, e.g. `webhook wh_…`. */
  seal(plain: string, place: string): string;
  /** Throws when the text was changed, moved or never sealed, or the key is another one. An empty object or list may be there plain: salvage writes them. */
  open(text: string, place: string): string;
  /** The same, for what is seldom opened twice, and may be long. */
  openOnce(text: string, place: string): string;
  /** 32 bytes for that purpose and no other; the same for as long as the store lives. */
  derive(purpose: string): Uint8Array;
}

const CIPHER = 'aes-256-gcm';
/** What is sealed begins with it: the format, with its cipher. */
const MARK = 'sealed1:';
/** What hides nothing. */
const EMPTY: ReadonlySet<string> = new Set(['{}', '[]']);
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
/** Of what was opened. */
const KEPT_CHARS = 16 * 1024 * 1024;

export function isSealed(text: string): boolean {
  return text.startsWith(MARK);
}

/** `key`: 32 bytes. */
export function createSeal(key: Uint8Array): Seal {
  // Webhooks are read with every claim of theirs: what was opened once is kept.
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
    if (!isSealed(text)) throw new Error('what should be sealed is not');
    const bytes = Buffer.from(text.slice(MARK.length), 'base64');
    if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new Error('what was sealed is not whole');
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
