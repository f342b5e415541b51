// Requests of code hold credentials in headers, address or body, so the bodies of their emissions are sealed, like the columns
// of sealed-columns.ts. All other emissions are stored as they are, and cost nothing here.

import { text, utf8 } from '../../domain/bytes.ts';
import { type Emission, HTTP } from '../../domain/emission.ts';
import type { Seal } from './seal.ts';

const requestPlace = (entry: number): string => `request ${entry}`;

/** Returns an emission as it is stored. */
export function asKept(emission: Emission, seal: Seal): Emission {
  if (emission.name !== HTTP) return emission;
  return { ...emission, body: utf8(seal.seal(text(emission.body), requestPlace(emission.entry))) };
}

/** Returns the body of a stored emission. */
export function openBody({ entry, name, body }: Pick<Emission, 'entry' | 'name' | 'body'>, seal: Seal): Uint8Array {
  return name === HTTP ? utf8(seal.openOnce(text(body), requestPlace(entry))) : body;
}
