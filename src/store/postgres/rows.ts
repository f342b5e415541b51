// Rows of the log to records: the flags of an emission are columns here.

import type { Emission } from '../../domain/emission.ts';
import type { RunRecord } from '../contract/records.ts';
import { type EmissionReader, emissionOf, runRecordOf } from '../rows/log-rows.ts';
import type { Row } from './connection/values.ts';

export function toEmission(row: Row, reader: EmissionReader): Emission {
  const flags = { verified: row.verified as boolean, replay: row.replay as boolean, test: row.test as boolean };
  return emissionOf(row, reader, flags);
}

export function toRunRecord(row: Row, storeTag: string): RunRecord {
  return runRecordOf(row, { storeTag, replay: row.replay as boolean });
}
