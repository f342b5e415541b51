// What a group of errors has in common, in words.

import type { ErrorGroup } from '../../../src/client/client.ts';
import { T } from '../english.ts';

type Fingerprint = ErrorGroup['fingerprint'];

/** Returns whether a group counts what has no group of its own, since its emitter has as many groups as are kept. */
function isOfOthers({ code, namespace, template, frame }: Fingerprint): boolean {
  return code === 'OtherErrors' && namespace === '' && template === '' && frame === '';
}

export function messageOf(fingerprint: Fingerprint): string {
  const { template } = fingerprint;
  if (template === '') return isOfOthers(fingerprint) ? T.errors.others : T.errors.noMessage;
  // Of nothing but placeholders a person learns nothing.
  return /\p{L}/u.test(template.replace(/\{\w*\}/g, '')) ? template : T.errors.varies(template);
}

export function stepOf(fingerprint: Fingerprint): string {
  if (fingerprint.namespace !== '') return T.errors.in(fingerprint.namespace);
  return isOfOthers(fingerprint) ? T.errors.anyStep : T.errors.noStep;
}
