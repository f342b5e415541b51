// The OpenAPI document of the app. Schemas with a title go under components, from which clients are generated.

import type { App } from '../app-type.ts';
import { refusalsOf, refusalsText } from './refusals.ts';

export interface MediaType {
  readonly schema?: unknown;
  readonly example?: unknown;
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: unknown;
  readonly example?: unknown;
}

export interface ApiOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, MediaType>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, MediaType>> }>>;
  readonly security?: readonly { readonly key?: readonly string[] }[];
}

/** The parts of an OpenAPI document that this program reads. */
export interface ApiDocument {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>;
  readonly components: Readonly<Record<string, unknown>>;
}

export function documentOf(app: App, publicUrl: string): ApiDocument {
  const plain = JSON.parse(JSON.stringify(app.swagger())) as ApiDocument;
  const schemas: Record<string, unknown> = {};
  const paths = hoistTitled(plain.paths, schemas) as ApiDocument['paths'];
  for (const path of Object.values(paths)) {
    for (const operation of Object.values(path)) {
      softenBody(operation);
      nameRefusals(operation);
    }
  }
  const sorted = Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)));
  return { ...plain, servers: [{ url: publicUrl }], paths, components: { ...plain.components, schemas: sorted } };
}

/** Returns whether a body can be left out: the query string can hold it, since its required members are scalars or none. */
function softenBody(operation: ApiOperation): void {
  if (operation.requestBody) Object.assign(operation.requestBody, { required: false });
}

/** Names what an operation answers to a wrong request, where generated clients look; `default` is left for failures of the server. */
function nameRefusals(operation: ApiOperation): void {
  const { responses } = operation;
  const { default: refusal } = responses;
  const isNamed = Object.keys(responses).some((status) => status.startsWith('4'));
  if (!refusal || isNamed) return;
  const description = `Any of ${refusalsText(refusalsOf(operation))}, and those that the description names (RFC 9457). What each means: /docs/errors.`;
  Object.assign(responses, { '4XX': { ...refusal, description } });
}

/** Replaces each schema that has a title by a reference, and collects it. Examples are data and stay. */
function hoistTitled(node: unknown, schemas: Record<string, unknown>): unknown {
  if (Array.isArray(node)) return node.map((item) => hoistTitled(item, schemas));
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node).map(([name, value]) => {
    const isData = name === 'example' || name === 'examples';
    return [name, isData ? value : hoistTitled(value, schemas)];
  });
  const copy = Object.fromEntries(entries) as { title?: unknown; type?: unknown };
  if (typeof copy.title !== 'string' || copy.type === undefined) return copy;
  schemas[copy.title] = copy;
  return { $ref: `#/components/schemas/${copy.title}` };
}
