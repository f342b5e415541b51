// Building blocks of the schemas. A schema is at once the validation, the TypeScript type and a piece of the OpenAPI
// document; `examples` feed the document, `x-expected` the message of a refusal.

import type { TInteger, TNull, TSchema, TString, TUnion, TUnsafe } from 'typebox';
import { LIMITS } from '../../domain/limits.ts';
import { Type } from '../schema/type.ts';

interface TextOptions {
  readonly description?: string;
  readonly example?: string;
  readonly expected?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  /** No refusal repeats its value. */
  readonly 'x-secret'?: true;
}

/** Returns the schema of a text. `example`: for the document; `expected`: what a refusal says would be right. */
export function text({ example, expected, ...options }: TextOptions = {}): TString {
  return Type.String({
    ...options,
    ...(example === undefined ? {} : { examples: [example] }),
    ...(expected === undefined ? {} : { 'x-expected': expected }),
  });
}

/** What ids with each prefix identify. */
const NOUNS: Readonly<Record<string, string>> = {
  ...{ p_: 'workflow', d_: 'deployment', c_: 'step', r_: 'run', dc_: 'source', wh_: 'webhook', dl_: 'delivery' },
  ...{ sub_: 'subscription', u_: 'owner', key_: 'API key', apn_: 'account', ch_: 'channel', ds_: 'data store' },
  ...{ hb_: 'heartbeat', eg_: 'group of errors', op_: 'operation', au_: 'audit record' },
};

/** Returns the schema of a resource's id, in answers and paths. Paths accept any text: an id of another shape is a 404. */
export function id(prefix: string, description = `Id of the ${NOUNS[prefix]}.`): TString {
  const tail = /^(r|dl)_$/.test(prefix) ? 'g4w9zl7uo0' : '0Vj3aBc9dEfGhIjK';
  return text({ example: `${prefix}${tail}`, description });
}

export function nullable<T extends TSchema>(schema: T): TUnion<[T, TNull]> {
  return Type.Union([schema, Type.Null()], annotationsOf(schema));
}

/** Returns the schema of a whole number that is usually absent: null is the example. */
export function mostlyNull(description: string): TUnion<[TInteger, TNull]> {
  return Type.Union([Type.Integer(), Type.Null()], { description, examples: [null] });
}

// A union shows what its first member shows.
function annotationsOf(schema: TSchema): { examples?: unknown[]; description?: string } {
  const { examples, description } = schema as { examples?: unknown[]; description?: string };
  return { ...(examples === undefined ? {} : { examples }), ...(description === undefined ? {} : { description }) };
}

/** Returns the schema of one of a closed list of words. */
export function oneOf<const T extends string>(words: readonly T[], description?: string): TUnsafe<T> {
  return Type.Unsafe<T>({
    type: 'string',
    enum: [...words],
    examples: [words[0]],
    ...(description === undefined ? {} : { description }),
  });
}

/** Returns the schema of a whole number from `minimum` to `maximum`. */
export function count(minimum: number, maximum: number, description?: string): TInteger {
  return Type.Integer({ minimum, maximum, ...(description === undefined ? {} : { description }) });
}

/** Returns the schema of a time. `when`: "When …", without a full stop. */
function secondsAt(when: string): TInteger {
  return Type.Integer({ description: `${when}, in seconds since the Unix epoch.`, examples: [1_782_000_000] });
}

/** Returns the schema of a time in milliseconds. `when`: "When …", without a full stop. */
export function msAt(when: string): TInteger {
  return Type.Integer({ description: `${when}, in milliseconds since the Unix epoch.`, examples: [1_782_000_000_123] });
}

export const CREATED_AT = secondsAt('When it was created');
export const UPDATED_AT = secondsAt('When it was changed last');
export const CREATED_AT_MS = msAt('When it was created');
export const RECORD_ID = text({
  description: 'Record id of the emission, `<milliseconds>-<sequence>`. Also its cursor in lists.',
  example: '1782000000123-0',
});
export const EMIT_ID = text({
  description: 'Emit id of the event, unique per emission. Webhooks get it as the header `webhook-id`.',
  example: 'k3x9qg4w9zl7un4',
});
export const EVENT_NAME = text({
  description: 'Name of the event: empty when it has none, `$errors` for errors.',
  maxLength: LIMITS.eventNameChars,
  example: '$errors',
});
/** Id of whatever emits. */
export const EMITTER = text({
  description: 'Id of the emitter: a workflow, source, webhook, heartbeat or trigger.',
  example: 'p_0Vj3aBc9dEfGhIjK',
});
/** Converts epoch milliseconds to epoch seconds. */
export function toSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}
