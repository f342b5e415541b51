// X-Hub-Signature-256: `sha256=`, and HMAC-SHA256 of the body in hex.

import { fromHex, hmac, isEqual } from '../common/signed.mjs';

const SCHEME = 'sha256=';

/** Null when it is genuine, else why not. */
export function faultOf({ bytes, header, secret }) {
  if (typeof header !== 'string') return 'there is no X-Hub-Signature-256: has the webhook a secret?';
  const given = header.startsWith(SCHEME) ? fromHex(header.slice(SCHEME.length)) : null;
  if (given === null) return 'the X-Hub-Signature-256 is not sha256= and hex digits';
  return isEqual(given, hmac(secret, bytes)) ? null : 'the signature does not match';
}
