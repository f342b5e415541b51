// An example value of a schema, from the `examples` of its parts, so that each field has its example in one place.

import type { TSchema } from 'typebox';

interface ExampleSchema {
  readonly type?: string;
  readonly const?: unknown;
  readonly examples?: readonly unknown[];
  readonly anyOf?: readonly TSchema[];
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
  readonly items?: TSchema;
}

export function exampleOf(schema: TSchema): unknown {
  const { examples, const: literal, anyOf, properties, required, items, type } = schema as ExampleSchema;
  if (examples && examples.length > 0) return examples[0];
  if (literal !== undefined) return literal;
  if (anyOf?.[0]) return exampleOf(anyOf[0]);
  switch (type) {
    case 'object':
      return Object.fromEntries(membersOf(properties ?? {}, required ?? []));
    case 'array':
      return items ? [exampleOf(items)] : [];
    case 'boolean':
      return true;
    case 'integer':
    case 'number':
      return 1;
    case 'string':
      return '';
    default:
      return null;
  }
}

/** Returns examples of an object's members. What has failed is a workflow or a source: an example with both would be wrong. */
function membersOf(properties: Readonly<Record<string, TSchema>>, required: readonly string[]): [string, unknown][] {
  const isOther = (name: string): boolean => name === 'source_id' && 'workflow_id' in properties;
  return Object.keys(properties)
    .filter((name) => !isOther(name) || required.includes(name))
    .map((name) => [name, isOther(name) ? null : exampleOf(properties[name] as TSchema)]);
}
