// The parameters of an operation as one table: path, query, and members of the body with all that they hold.

import type { ApiDocument, ApiOperation } from '../openapi/document.ts';
import { escapeHtml, inlineHtml } from './html.ts';

interface Row {
  readonly name: string;
  readonly where: string;
  readonly isRequired: boolean;
  readonly type: string;
  readonly description: string;
  /** How deep inside of the body. */
  readonly level: number;
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

/** Deeper members are not shown: no body of ours is. It also ends a schema that holds itself. */
const MAX_LEVEL = 4;

/** Returns the rows of an operation's parameters. A member that both query and body can hold has one row. */
export function parametersOf(operation: ApiOperation, document: ApiDocument): Row[] {
  const schema = Object.values(operation.requestBody?.content ?? {})[0]?.schema as SchemaNode | undefined;
  const body = schema && resolved(schema, document);
  const members = body?.properties ?? {};
  const parameters = (operation.parameters ?? []).filter(
    ({ name, in: where }) => where === 'path' || !(name in members),
  );
  const rows = parameters.map(({ name, in: where, required, description, schema: of }) => ({
    ...{ name, where, level: 0 },
    isRequired: required === true,
    type: typeOf(of as SchemaNode, document),
    description: description ?? '',
  }));
  const inQuery = new Set(operation.parameters?.map(({ name }) => name));
  const ofBody = body ? inside(body, { path: '', level: 0, document }) : [];
  return [...rows, ...ofBody.map((row) => (inQuery.has(row.name) ? { ...row, where: 'query or body' } : row))];
}

/** Returns rows for the members of an object, or of the objects in a list; of a union of objects each name once. */
function inside(node: SchemaNode, at: { path: string; level: number; document: ApiDocument }): Row[] {
  const { path, level, document } = at;
  const variants = objectsOf(node, document);
  const names = new Set(variants.flatMap(({ properties = {} }) => Object.keys(properties)));
  return [...names].flatMap((member) => {
    const having = variants.filter(({ properties = {} }) => member in properties);
    const schemas = having.map(({ properties = {} }) => properties[member] as SchemaNode);
    const name = path + member;
    const row = {
      ...{ name, where: 'body', level },
      isRequired: variants.every(({ required = [] }) => required.includes(member)),
      type: [...new Set(schemas.map((schema) => typeOf(schema, document)))].join(' | '),
      description: schemas.find(({ description }) => description)?.description ?? '',
    };
    if (level === MAX_LEVEL) return [row];
    const isList = schemas.some((schema) => listsOf(schema, document).length > 0);
    const deeper = { path: `${name}${isList ? '[]' : ''}.`, level: level + 1, document };
    return [row, ...inside({ anyOf: schemas }, deeper)];
  });
}

/** Returns the objects that a schema may be, or that are in a list that it may be. */
function objectsOf(schema: SchemaNode, document: ApiDocument): SchemaNode[] {
  const node = resolved(schema, document);
  if (node.anyOf) return node.anyOf.flatMap((one) => objectsOf(one, document));
  if (node.type === 'array' && node.items) return objectsOf(node.items, document);
  return node.properties ? [node] : [];
}

function listsOf(schema: SchemaNode, document: ApiDocument): SchemaNode[] {
  const node = resolved(schema, document);
  if (node.anyOf) return node.anyOf.flatMap((one) => listsOf(one, document));
  return node.type === 'array' ? [node] : [];
}

function resolved(node: SchemaNode, document: ApiDocument): SchemaNode {
  if (node.$ref === undefined) return node;
  const schemas = (document.components.schemas ?? {}) as Readonly<Record<string, SchemaNode>>;
  return schemas[node.$ref.split('/').at(-1) as string] ?? {};
}

export function parameterTable(rows: readonly Row[]): string {
  const html = rows.map(({ name, where, isRequired, type, description, level }) => {
    const must = isRequired ? ' <span class="must">required</span>' : '';
    const inner = level === 0 ? '' : ` class="level-${level}"`;
    const cells = [
      `<td${inner}><code>${escapeHtml(name)}</code>${must}</td>`,
      `<td data-label="In">${where}</td><td data-label="Type">${escapeHtml(type)}</td>`,
      `<td>${inlineHtml(description)}</td>`,
    ];
    return `<tr>${cells.join('')}</tr>`;
  });
  return `<div class="table parameters"><table><thead><tr><th>Name</th><th>In</th><th>Type</th><th>Meaning</th></tr></thead><tbody>
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
