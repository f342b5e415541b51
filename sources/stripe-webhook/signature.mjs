// Stripe-Signature: `t=<unix seconds>,v1=<hex>,…`. Each `v1` is HMAC-SHA256 of `t`, a dot and the body; there are several
// while a secret is being rolled. Other schemes, like `v0` of test mode, prove nothing.

import { fromHex, hmac, isEqual, isRecent, TOLERANCE_S } from '../common/signed.mjs';

/** Null when it is genuine, else why not. */
export function faultOf({ bytes, header, secret, arrivedMs }) {
  if (typeof header !== 'string') return 'there is no Stripe-Signature';
  const parts = header.split(',').map((part) => part.trim().split('=', 2));
  const [timestamp, ...others] = valuesOf(parts, 't');
  // Two times would leave open which of them was signed.
  if (others.length > 0 || !/^[1-9]\d{0,14}$/.test(timestamp ?? '')) return 'the Stripe-Signature has no time';
  const expected = hmac(secret, `${timestamp}.`, bytes);
  const given = valuesOf(parts, 'v1').map((value) => fromHex(value ?? ''));
  if (!given.some((one) => one !== null && isEqual(one, expected))) return 'no signature matches';
  return isRecent(timestamp, arrivedMs)
    ? null
    : `it was signed more than ${TOLERANCE_S} seconds before or after it arrived`;
}

function valuesOf(parts, key) {
  return parts.filter(([name]) => name === key).map(([, value]) => value);
}
