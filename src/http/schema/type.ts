// Builds the schemas of routes: plain JSON Schema, as TypeBox's builder of the same names makes it, with TypeBox's types.
// TypeBox itself is needed for its types alone: importing it loads 680 modules, which took a fifth of a start's CPU time
// and 17 MB of the server's memory, for twelve functions.

import type { TSchema, Type as TypeBox } from 'typebox';

type Builder = Pick<
  typeof TypeBox,
  | 'Array'
  | 'Boolean'
  | 'Integer'
  | 'Literal'
  | 'Null'
  | 'Number'
  | 'Object'
  | 'Optional'
  | 'Partial'
  | 'Record'
  | 'String'
  | 'Union'
  | 'Unknown'
  | 'Unsafe'
>;

type Options = Readonly<Record<string, unknown>>;
type Members = Readonly<Record<string, TSchema>>;

/** Names of any length without a line break, as TypeBox has it for a record whose keys are any string. */
const ANY_NAME = '^.*$';
/** Marks a member as optional. Not enumerable: neither a copy with other annotations nor the document has it. */
const OPTIONAL = '~optional';

function optional(schema: TSchema): TSchema {
  return Object.defineProperty({ ...schema }, OPTIONAL, { value: true });
}

function object(properties: Members, options: Options = {}): TSchema {
  const required = Object.keys(properties).filter((name) => !Object.hasOwn(properties[name] as TSchema, OPTIONAL));
  return { type: 'object', ...(required.length > 0 ? { required } : {}), properties, ...options };
}

function partial({ properties }: { properties: Members }, options?: Options): TSchema {
  const members = Object.entries(properties).map(([name, member]) => [name, optional(member)]);
  return object(Object.fromEntries(members), options);
}

function record({ pattern = ANY_NAME }: { pattern?: string }, value: TSchema, options: Options = {}): TSchema {
  return { type: 'object', patternProperties: { [pattern]: value }, ...options };
}

const typed = (type: string) => (options: Options) => ({ type, ...options });

const BUILDER = {
  Array: (items: TSchema, options?: Options) => ({ type: 'array', items, ...options }),
  Boolean: typed('boolean'),
  Integer: typed('integer'),
  Literal: (value: unknown, options?: Options) => ({ type: typeof value, const: value, ...options }),
  Null: typed('null'),
  Number: typed('number'),
  Object: object,
  Optional: optional,
  Partial: partial,
  Record: record,
  String: typed('string'),
  Union: (anyOf: readonly TSchema[], options?: Options) => ({ anyOf, ...options }),
  Unknown: (options?: Options) => ({ ...options }),
  Unsafe: (schema: TSchema) => ({ ...schema }),
};

/** The functions have the signatures of TypeBox's, whose types name what each schema accepts. */
export const Type = BUILDER as unknown as Builder;
