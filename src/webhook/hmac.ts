// HMAC-SHA256 (RFC 2104) with a key that is prepared once, over short messages: two hashes of one call each. Node's `createHmac`
// makes an object per message, which takes twice as long for a message of 1 KB; with longer ones the hash itself counts.

import { createHmac, createSecretKey, hash } from 'node:crypto';
import { KIB } from '../domain/limits.ts';

const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;
const INNER = 0x36;
const OUTER = 0x5c;
/** Longer messages are not copied. */
const SHORT_BYTES = 16 * KIB;

/** Returns Base64 of the HMAC of the head's UTF-8 bytes and the body. */
export function hmacSha256(key: Buffer): (head: string, body: Uint8Array) => string {
  const block = Buffer.alloc(BLOCK_BYTES);
  (key.length > BLOCK_BYTES ? hash('sha256', key, 'buffer') : key).copy(block);
  const inner = block.map((byte) => byte ^ INNER);
  const outer = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES);
  outer.set(block.map((byte) => byte ^ OUTER));
  const secret = createSecretKey(key);

  return (head, body) => {
    const headBytes = Buffer.byteLength(head);
    const bytes = BLOCK_BYTES + headBytes + body.length;
    if (bytes > SHORT_BYTES) return createHmac('sha256', secret).update(head).update(body).digest('base64');
    const message = Buffer.allocUnsafe(bytes);
    message.set(inner);
    message.write(head, BLOCK_BYTES);
    message.set(body, BLOCK_BYTES + headBytes);
    outer.set(hash('sha256', message, 'buffer'), BLOCK_BYTES);
    return hash('sha256', outer, 'base64');
  };
}
