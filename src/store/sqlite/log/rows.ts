// Rows of the log to records; the flags of an emission are bits of one number.

import type { Emission } from '../../../domain/emission.ts';
import { number } from '../../rows/cells.ts';
import { type EmissionReader, emissionOf, isListed } from '../../rows/log-rows.ts';
import type { Core } from '../core.ts';
import type { Row } from '../database.ts';

const VERIFIED = 1;
const REPLAY = 2;
const TEST = 4;
const LISTED = 8;

export function flagsOf(emission: { verified: boolean; replay: boolean; test: boolean; emitterId: string }): number {
  return (
    (emission.verified ? VERIFIED : 0) |
    (emission.replay ? REPLAY : 0) |
    (emission.test ? TEST : 0) |
    (isListed(emission.emitterId) ? LISTED : 0)
  );
}

export function toEmission(row: Row, reader: EmissionReader): Emission {
  const flags = number(row, 'flags');
  return emissionOf(row, reader, {
    verified: (flags & VERIFIED) !== 0,
    replay: (flags & REPLAY) !== 0,
    test: (flags & TEST) !== 0,
  });
}

/** Reads the emission of a row, within the transaction that writes. */
export function readEmission(core: Core, entry: number): Emission {
  const row = core.writer.get('SELECT * FROM emissions WHERE entry = ?', entry);
  if (!row) throw new Error(`emission ${entry} is gone`);
  return toEmission(row, core);
}
