// Data stores and their records: as shown, and their parameters. A record's value goes in and out as written.

import type { Static } from 'typebox';
import { utf8 } from '../../domain/bytes.ts';
import type { DataRecord, DataStore } from '../../domain/data.ts';
import { LIMITS, SECOND_MS } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { RecordInput } from '../../domain/requests.ts';
import { Verbatim } from '../body/json.ts';
import { CREATED_AT, id, mostlyNull, nullable, text, toSeconds, UPDATED_AT } from '../openapi/schema.ts';
import { Type } from '../schema/type.ts';

const NAME = text({
  description: 'Label for your own use.',
  minLength: 1,
  maxLength: LIMITS.nameChars,
  example: 'Seen orders',
});

export const DATA_STORE_INPUT = { name: NAME };

export const DATA_STORE = Type.Object(
  {
    id: id('ds_'),
    owner_id: id('u_'),
    name: NAME,
    size: Type.Integer({ description: 'Records in it.', examples: [3] }),
    created_at: CREATED_AT,
    updated_at: UPDATED_AT,
  },
  { title: 'DataStore' },
);

export const DATA_RECORD = Type.Object(
  {
    key: text({ description: 'Also its cursor in lists.', example: 'order-17' }),
    value: Type.Unknown({ description: 'Any JSON.', examples: [{ total: 12.5 }] }),
    updated_at: UPDATED_AT,
    expires_at: mostlyNull('When it is gone, in seconds since the Unix epoch; null: never.'),
  },
  { title: 'DataRecord' },
);

const MAX_TTL_S = LIMITS.maxRecordTtlMs / SECOND_MS;

export const DATA_RECORD_INPUT = {
  value: Type.Unknown({ description: `Any JSON, at most ${LIMITS.recordBytes} bytes.` }),
  ttl: Type.Optional(
    nullable(
      Type.Integer({
        minimum: 1,
        maximum: MAX_TTL_S,
        description: 'Seconds after which the record is gone; null or not given: it stays.',
        examples: [3600],
      }),
    ),
  ),
};

export function dataStoreToWire(dataStore: DataStore): Static<typeof DATA_STORE> {
  return {
    id: dataStore.id,
    owner_id: dataStore.ownerId,
    name: dataStore.name,
    size: dataStore.size,
    created_at: toSeconds(dataStore.createdAtMs),
    updated_at: toSeconds(dataStore.updatedAtMs),
  };
}

export function recordToWire(record: DataRecord): Static<typeof DATA_RECORD> {
  return {
    key: record.key,
    value: new Verbatim(utf8(record.value)),
    updated_at: toSeconds(record.updatedAtMs),
    expires_at: record.expiresAtMs === null ? null : toSeconds(record.expiresAtMs),
  };
}

/** Returns a key from a path or a cursor. */
export function checkedKey(parameter: string, key: string): string {
  const isFine = key.length >= 1 && key.length <= LIMITS.recordKeyChars && key.isWellFormed();
  if (isFine) return key;
  const message = `must be 1 to ${LIMITS.recordKeyChars} characters, but has ${key.length}`;
  throw new Refusal('malformed', `${parameter} ${message}`, { errors: [{ parameter, message }] });
}

/** Returns what the store writes for a record. `value`: the bytes as sent. */
export function recordInput(key: string, value: Uint8Array, ttlS: number | null | undefined): RecordInput {
  const ttlMs = ttlS === null || ttlS === undefined ? null : ttlS * SECOND_MS;
  return { key: checkedKey('key', key), value: Buffer.from(value).toString().trim(), ttlMs };
}
