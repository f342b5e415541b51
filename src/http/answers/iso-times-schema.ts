// Schemas of answers with the ISO 8601 text of each time: what the document says of the members that iso-times.ts adds.

import type { TSchema } from 'typebox';
import type { Keywords } from '../schema/check.ts';
import { Type } from '../schema/type.ts';
import { isoName, isoOf, isTime, type Shape, shapeOf, withIso } from './iso-times.ts';

/** A schema with a title goes into the document once: it must be the same wherever it is used. */
const schemas = new WeakMap<TSchema, TSchema>();

/** Returns the schema of an answer with the text beside each time. */
export function isoTimesSchema<T extends TSchema>(schema: T): T {
  const before = schemas.get(schema);
  if (before) return before as T;
  const shape = shapeOf(schema);
  const made = shape ? (schemaWith(schema, shape) as T) : schema;
  schemas.set(schema, made);
  return made;
}

function schemaWith(schema: TSchema, shape: Shape): TSchema {
  const { properties, patternProperties, items, anyOf, required = [] } = schema as Keywords;
  const { examples } = schema as { examples?: readonly unknown[] };
  const times = Object.keys(properties ?? {}).filter((name) => shape.times.has(name));
  const needed = required.flatMap((name) => [name, ...(times.includes(name) ? [isoName(name)] : [])]);
  return {
    ...schema,
    ...(needed.length > 0 ? { required: needed } : {}),
    ...(properties ? { properties: propertiesWith(properties) } : {}),
    ...(patternProperties ? { patternProperties: eachWith(patternProperties) } : {}),
    ...(items ? { items: isoTimesSchema(items) } : {}),
    ...(anyOf ? { anyOf: anyOf.map(isoTimesSchema) } : {}),
    ...(examples ? { examples: examples.map((example) => withIso(example, shape)) } : {}),
  } as TSchema;
}

type Members = Readonly<Record<string, TSchema>>;

function eachWith(members: Members): Members {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, isoTimesSchema(member)]));
}

function propertiesWith(members: Members): Members {
  const entries = Object.entries(members).flatMap(([name, member]): [string, TSchema][] => {
    if (!isTime(name, member)) return [[name, isoTimesSchema(member)]];
    return [
      [name, member],
      [isoName(name), textSchema(name, member)],
    ];
  });
  return Object.fromEntries(entries);
}

/** Returns the schema of a time's text; it is null when the time is. */
function textSchema(name: string, time: TSchema): TSchema {
  const { anyOf, examples = [] } = time as Keywords & { examples?: readonly unknown[] };
  const annotations = {
    description: `\`${name}\` as ISO 8601, in UTC.`,
    ...(examples.length > 0 ? { examples: examples.map((example) => isoOf(name, example)) } : {}),
  };
  const iso = { format: 'date-time' };
  if (!anyOf) return Type.String({ ...iso, ...annotations });
  return Type.Union([Type.String(iso), Type.Null()], annotations);
}
