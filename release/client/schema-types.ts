// Writes TypeScript types of JSON Schemas as the OpenAPI document has them. (openapi-typescript is built on the interface of
// TypeScript 5's compiler, and this repository compiles with TypeScript 7, which has none.)

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly title?: string;
}

const REF = '#/components/schemas/';
const NAME = /^[A-Za-z_$][\w$]*$/;
const SCALARS: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
};

/** Returns the type of a schema; `indent`: that of the line on which it begins. */
export function typeOf(schema: Schema, indent = ''): string {
  if (schema.$ref !== undefined) return nameOf(schema.$ref);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return unionOf(schema.enum.map((value) => JSON.stringify(value)));
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return unionOf(choices.map((choice) => typeOf(choice, indent)));
  if (schema.allOf) return schema.allOf.map((part) => `(${typeOf(part, indent)})`).join(' & ');
  if (Array.isArray(schema.type)) return unionOf(schema.type.map((type) => typeOf({ ...schema, type }, indent)));
  if (schema.type === 'array') return `readonly ${inArray(typeOf(schema.items ?? {}, indent))}[]`;
  if (schema.type === 'object' || schema.properties) return objectOf(schema, indent);
  if (schema.type === undefined) return 'unknown';
  const scalar = SCALARS[schema.type as string];
  if (scalar === undefined) throw new Error(`no TypeScript type for the schema type ${JSON.stringify(schema.type)}`);
  return scalar;
}

function nameOf(ref: string): string {
  if (!ref.startsWith(REF)) throw new Error(`${ref} does not refer to a schema of the components`);
  return ref.slice(REF.length);
}

function unionOf(types: readonly string[]): string {
  // `unknown` takes the others in.
  return types.includes('unknown') ? 'unknown' : [...new Set(types)].join(' | ');
}

function inArray(type: string): string {
  return /[|&]|^readonly /.test(type) ? `(${type})` : type;
}

function objectOf(schema: Schema, indent: string): string {
  const { properties = {}, required = [] } = schema;
  const members = Object.entries(properties).map(([name, member]) =>
    memberOf({ name, schema: member, isOptional: !required.includes(name) }, `${indent}  `),
  );
  const rest = restOf(schema, indent);
  if (members.length === 0) return `{ ${rest ?? 'readonly [name: string]: unknown'} }`;
  // Its members have types of their own, which an index signature would have to include.
  const open = rest === null ? '' : ' & { readonly [name: string]: unknown }';
  return `{\n${members.join('')}${indent}}${open}`;
}

/** Returns the index signature of an object that takes other members; null: there are none. */
function restOf({ additionalProperties, patternProperties }: Schema, indent: string): string | null {
  const patterns = Object.values(patternProperties ?? {});
  const of = typeof additionalProperties === 'object' ? [additionalProperties, ...patterns] : patterns;
  if (of.length > 0) return `readonly [name: string]: ${unionOf(of.map((schema) => typeOf(schema, indent)))}`;
  return additionalProperties === true ? 'readonly [name: string]: unknown' : null;
}

export interface Member {
  readonly name: string;
  readonly schema: Schema;
  readonly isOptional: boolean;
}

/** `taken`: what is `undefined` is as good as left out. */
export function memberOf({ name, schema, isOptional }: Member, indent: string, by?: 'taken'): string {
  const key = NAME.test(name) ? name : JSON.stringify(name);
  const type = typeOf(schema, indent);
  return `${commentOf(schema.description, indent)}${indent}readonly ${key}${isOptional ? '?' : ''}: ${type}${isOptional && by && type !== 'unknown' ? ' | undefined' : ''};\n`;
}

/** Returns a description as a comment on lines of its own. */
export function commentOf(description: string | undefined, indent: string): string {
  if (!description || description === 'Done.') return '';
  const lines = description.replaceAll('*/', '*\\/').split('\n');
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} *${line === '' ? '' : ` ${line}`}\n`).join('')}${indent} */\n`;
}
