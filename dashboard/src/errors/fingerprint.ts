// What a group of errors has in common, in words.

import type { ErrorGroup } from '../../../src/client/client.ts';
import { T } from '../english.ts';

type Fingerprint = ErrorGroup['fingerprint'];

/** Returns whether a group counts what has no group of its own, since its emitter has as many groups as are kept. */
function isOfOthers({ code, namespace, template, frame }: Fingerprint): boolean {
  return code === 'OtherErrors' && namespace === '' && template === '' && frame === '';
}

export function messageOf(fingerprint: Fingerprint): string {
  return fingerprint.template || (isOfOthers(fingerprint) ? T.errors.others : T.errors.noMessage);
}

export function stepOf(fingerprint: Fingerprint): string {
  if (fingerprint.namespace !== '') return T.errors.in(fingerprint.namespace);
  return isOfOthers(fingerprint) ? T.errors.anyStep : T.errors.noStep;
}
