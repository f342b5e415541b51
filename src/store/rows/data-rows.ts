// Rows of accounts and data stores, for both backends.

import { OAUTH } from '../../domain/accounts/renewal.ts';
import type { Account, DataRecord, DataStore } from '../../domain/data.ts';
import type { Seal } from '../seal/seal.ts';
import { accountFieldsPlace } from '../seal/sealed-columns.ts';
import { number, numberOrNull, text } from './cells.ts';
import type { Row } from './rows.ts';

/** Returns the fields, sealed; of an account whose token is renewed, together with how. */
export function sealedFields({ id, fields, oauth }: Account, seal: Seal): string {
  const kept = oauth === null ? fields : { [OAUTH]: oauth, fields };
  return seal.seal(JSON.stringify(kept), accountFieldsPlace(id));
}

function openedFields(sealed: string, id: string, seal: Seal): Pick<Account, 'fields' | 'oauth'> {
  const kept = JSON.parse(seal.open(sealed, accountFieldsPlace(id)));
  return Object.hasOwn(kept, OAUTH) ? { fields: kept.fields, oauth: kept[OAUTH] } : { fields: kept, oauth: null };
}

export function toAccount(row: Row, seal: Seal): Account {
  const id = text(row, 'id');
  return {
    id,
    ownerId: text(row, 'owner_id'),
    app: text(row, 'app'),
    name: text(row, 'name'),
    ...openedFields(text(row, 'fields'), id, seal),
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
