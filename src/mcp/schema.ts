// Builds the schemas of tools.

import type { Schema } from './tool.ts';

type Members = Readonly<Record<string, Schema>>;

/** Returns the schema of an input: what it does not name is refused. Members are optional but those of `required`. */
export function input(properties: Members, required: readonly string[] = []): Schema {
  return { type: 'object', properties, required: [...required], additionalProperties: false };
}

/** Returns the schema of an output. Later versions may add members. */
export function output(properties: Members, required: readonly string[] = []): Schema {
  return { type: 'object', properties, required: [...required] };
}

export const text = (description: string, more: Schema = {}): Schema => ({ type: 'string', description, ...more });
export const whole = (description: string, minimum = 0, maximum = Number.MAX_SAFE_INTEGER): Schema => ({
  type: 'integer',
  description,
  minimum,
  maximum,
});
export const flag = (description: string): Schema => ({ type: 'boolean', description });
export const oneOf = (values: readonly string[], description: string): Schema => ({
  type: 'string',
  enum: [...values],
  description,
});
export const record = (description: string): Schema => ({ type: 'object', description });
export const orNull = (schema: Schema): Schema => {
  const { description, ...rest } = schema;
  return { anyOf: [rest, { type: 'null' }], ...(description === undefined ? {} : { description }) };
};
export const listOf = (items: Schema, description: string): Schema => ({ type: 'array', items, description });

/** Ids of the interface. A pattern, so that a name or a sentence is refused with what is expected. */
export const ids = {
  error: text('Id of an error, such as 1782000000123-0.', { pattern: '^\\d{1,16}-\\d{1,10}$' }),
  group: text('Id of a group of errors, such as eg_0Vj3aBc9dEfGhIjK.', { pattern: '^eg_\\w{1,40}$' }),
  source: text('Id of a source, such as dc_0Vj3aBc9dEfGhIjK.', { pattern: '^dc_\\w{1,40}$' }),
  workflow: text('Id of a workflow, such as p_0Vj3aBc9dEfGhIjK.', { pattern: '^p_\\w{1,40}$' }),
  emitter: text('Id of what failed: a workflow (p_…), source (dc_…), webhook (wh_…) or heartbeat (hb_…).', {
    pattern: '^(p|dc|wh|hb)_\\w{1,40}$',
  }),
  webhook: text('Id of a webhook, such as wh_0Vj3aBc9dEfGhIjK.', { pattern: '^wh_\\w{1,40}$' }),
  delivery: text('Id of a delivery, such as dl_g4w9zl7uo0.', { pattern: '^dl_\\w{1,40}$' }),
  run: text('Id of a run, such as r_g4w9zl7uo0.', { pattern: '^r_\\w{1,40}$' }),
  operation: text('Id of an operation, such as op_0Vj3aBc9dEfGhIjK.', { pattern: '^op_\\w{1,40}$' }),
  emission: text('Id of an event, as deliveries and receipts name it.', { maxLength: 100 }),
} as const;

export const since = text(
  'Only from then on: ISO 8601 with its offset, such as 2026-01-31T12:00:00Z, or milliseconds.',
  {
    maxLength: 40,
  },
);
export const until = text('Only before then, in the same form.', { maxLength: 40 });

export const LISTED = 20;
export const limit = whole(`How many to return; ${LISTED} when not given.`, 1, 50);
export const after = text('Where to go on: `next` of the answer before.', { maxLength: 100 });
export const next = orNull(text('Give it as `after` to go on; null: there are no more.'));
