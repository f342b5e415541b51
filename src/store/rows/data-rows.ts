// What both backends make of the rows of accounts and data stores.

import type { Account, DataRecord, DataStore } from '../../domain/data.ts';
import type { Seal } from '../seal/seal.ts';
import { accountFieldsPlace } from '../seal/sealed-columns.ts';
import type { Row } from './rows.ts';

export function sealedFields({ id, fields }: Account, seal: Seal): string {
  return seal.seal(JSON.stringify(fields), accountFieldsPlace(id));
}

export function toAccount(row: Row, seal: Seal): Account {
  const id = row.id as string;
  return {
    id,
    ownerId: row.owner_id as string,
    app: row.app as string,
    name: row.name as string,
    fields: JSON.parse(seal.open(row.fields as string, accountFieldsPlace(id))) as Record<string, unknown>,
    createdAtMs: row.created_at_ms as number,
    updatedAtMs: row.updated_at_ms as number,
  };
}

export function toDataStore(row: Row): DataStore {
  return {
    id: row.id as string,
    ownerId: row.owner_id as string,
    name: row.name as string,
    size: row.size as number,
    createdAtMs: row.created_at_ms as number,
    updatedAtMs: row.updated_at_ms as number,
  };
}

export function toRecord(row: Row): DataRecord {
  return {
    key: row.key as string,
    value: row.value as string,
    updatedAtMs: row.updated_at_ms as number,
    expiresAtMs: row.expires_at_ms as number | null,
  };
}
