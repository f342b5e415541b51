// The parameters of an operation as one table: path, query, and members of the body.

import type { ApiDocument, ApiOperation } from '../openapi/document.ts';
import { escapeHtml, inlineHtml } from './html.ts';

interface Row {
  readonly name: string;
  readonly where: string;
  readonly isRequired: boolean;
  readonly type: string;
  readonly description: string;
}

interface SchemaNode {
  readonly $ref?: string;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly SchemaNode[];
  readonly items?: SchemaNode;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
}

/** Returns the rows of an operation's parameters. A member that both query and body can hold has one row. */
export function parametersOf(operation: ApiOperation, document: ApiDocument): Row[] {
  const body = Object.values(operation.requestBody?.content ?? {})[0]?.schema as SchemaNode | undefined;
  const members = body?.properties ?? {};
  const parameters = (operation.parameters ?? []).filter(
    ({ name, in: where }) => where === 'path' || !(name in members),
  );
  const rows = parameters.map(({ name, in: where, required, description, schema }) => ({
    name,
    where,
    isRequired: required === true,
    type: typeOf(schema as SchemaNode, document),
    description: description ?? '',
  }));
  const ofBody = Object.entries(members).flatMap(([name, schema]) => [
    {
      name,
      where: operation.parameters?.some((other) => other.name === name) ? 'query or body' : 'body',
      isRequired: body?.required?.includes(name) === true,
      type: typeOf(schema, document),
      description: schema.description ?? '',
    },
    ...inside(name, schema, document),
  ]);
  return [...rows, ...ofBody];
}

/** Returns rows for the members of an object, or of the objects in a list; of a union of objects each name once. */
function inside(name: string, schema: SchemaNode, document: ApiDocument): Row[] {
  const isList = schema.type === 'array';
  const node = isList ? (schema.items ?? {}) : schema;
  const rows = new Map<string, Row>();
  for (const one of node.anyOf ?? [node]) {
    for (const [member, inner] of Object.entries(one.properties ?? {})) {
      if (rows.has(member)) continue;
      const path = `${name}${isList ? '[]' : ''}.${member}`;
      const type = typesOf(node, member, document);
      rows.set(member, { name: path, where: 'body', isRequired: false, type, description: inner.description ?? '' });
    }
  }
  return [...rows.values()];
}

function typesOf(node: SchemaNode, member: string, document: ApiDocument): string {
  const schemas = (node.anyOf ?? [node]).flatMap((one) => one.properties?.[member] ?? []);
  return [...new Set(schemas.map((schema) => typeOf(schema, document)))].join(' | ');
}

export function parameterTable(rows: readonly Row[]): string {
  const html = rows.map(({ name, where, isRequired, type, description }) => {
    const must = isRequired ? ' <span class="must">required</span>' : '';
    return `<tr><td><code>${escapeHtml(name)}</code>${must}</td><td>${where}</td><td>${escapeHtml(type)}</td><td>${inlineHtml(description)}</td></tr>`;
  });
  return `<div class="table"><table><thead><tr><th>Name</th><th>In</th><th>Type</th><th></th></tr></thead><tbody>
${html.join('\n')}</tbody></table></div>`;
}

function typeOf(schema: SchemaNode | undefined, document: ApiDocument): string {
  if (!schema) return 'any';
  if (schema.$ref) return (schema.$ref.split('/').at(-1) as string).toLowerCase();
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.anyOf) return [...new Set(schema.anyOf.map((member) => typeOf(member, document)))].join(' | ');
  if (schema.type === 'array') return `array of ${typeOf(schema.items, document)}`;
  const { minimum, maximum, maxLength } = schema;
  const bounds =
    minimum !== undefined && maximum !== undefined ? ` ${minimum}–${maximum}` : maxLength ? ` ≤ ${maxLength}` : '';
  return `${schema.type ?? 'any'}${bounds}`;
}
