// Rows of the log to records: the flags of an emission are columns here.

import type { Emission } from '../../domain/emission.ts';
import type { RunRecord } from '../contract/records.ts';
import { flag } from '../rows/cells.ts';
import { type EmissionReader, emissionOf, runRecordOf } from '../rows/log-rows.ts';
import type { Row } from './connection/values.ts';

export function toEmission(row: Row, reader: EmissionReader): Emission {
  const flags = { verified: flag(row, 'verified'), replay: flag(row, 'replay'), test: flag(row, 'test') };
  return emissionOf(row, reader, flags);
}

export function toRunRecord(row: Row, storeTag: string): RunRecord {
  return runRecordOf(row, { storeTag, replay: flag(row, 'replay') });
}
