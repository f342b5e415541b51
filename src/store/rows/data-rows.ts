// Rows of accounts and data stores, for both backends.

import type { Account, DataRecord, DataStore } from '../../domain/data.ts';
import type { Seal } from '../seal/seal.ts';
import { accountFieldsPlace } from '../seal/sealed-columns.ts';
import { number, numberOrNull, text } from './cells.ts';
import type { Row } from './rows.ts';

export function sealedFields({ id, fields }: Account, seal: Seal): string {
  return seal.seal(JSON.stringify(fields), accountFieldsPlace(id));
}

export function toAccount(row: Row, seal: Seal): Account {
  const id = text(row, 'id');
  return {
    id,
    ownerId: text(row, 'owner_id'),
    app: text(row, 'app'),
    name: text(row, 'name'),
    fields: JSON.parse(seal.open(text(row, 'fields'), accountFieldsPlace(id))),
    createdAtMs: number(row, 'created_at_ms'),
    updatedAtMs: number(row, 'updated_at_ms'),
  };
}

export function toDataStore(row: Row): DataStore {
  return {
    id: text(row, 'id'),
    ownerId: text(row, 'owner_id'),
    name: text(row, 'name'),
    size: number(row, 'size'),
    createdAtMs: number(row, 'created_at_ms'),
    updatedAtMs: number(row, 'updated_at_ms'),
  };
}

export function toRecord(row: Row): DataRecord {
  return {
    key: text(row, 'key'),
    value: text(row, 'value'),
    updatedAtMs: number(row, 'updated_at_ms'),
    expiresAtMs: numberOrNull(row, 'expires_at_ms'),
  };
}
