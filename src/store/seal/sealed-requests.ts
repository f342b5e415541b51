// Requests that code asked for hold credentials, in headers, address or body: what such an emission says is sealed as the
// columns of sealed-columns.ts are, in the place of its body. All other emissions are kept as they are, and cost nothing here.

import { text, utf8 } from '../../domain/bytes.ts';
import { type Emission, HTTP } from '../../domain/emission.ts';
import type { Seal } from './seal.ts';

export const requestPlace = (entry: number): string => `request ${entry}`;

/** An emission as it is kept. */
export function asKept(emission: Emission, seal: Seal): Emission {
  if (emission.name !== HTTP) return emission;
  return { ...emission, body: utf8(seal.seal(text(emission.body), requestPlace(emission.entry))) };
}

/** A body that was kept. */
export function openBody({ entry, name, body }: Pick<Emission, 'entry' | 'name' | 'body'>, seal: Seal): Uint8Array {
  return name === HTTP ? utf8(seal.openOnce(text(body), requestPlace(entry))) : body;
}
