// What a sample of an operation sends: its parameters and body with the values that the document gives as examples.

import type { ApiDocument, ApiOperation } from '../../openapi/document.ts';

export interface OperationEntry {
  readonly method: string;
  readonly path: string;
  readonly operation: ApiOperation;
}

/** How an operation answers. `page`: a list that goes on; `stream`: events or lines that come one by one. */
export type AnswerKind = 'json' | 'page' | 'stream' | 'text';

export interface SampleRequest {
  readonly id: string;
  readonly method: string;
  /** The server's address. */
  readonly server: string;
  /** Path and query, with the example values. */
  readonly target: string;
  readonly isPublic: boolean;
  readonly body: { readonly type: string; readonly value: unknown } | null;
  /** What the client's method takes. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly answer: AnswerKind;
}

const KINDS: Readonly<Record<string, AnswerKind>> = {
  'text/event-stream': 'stream',
  'application/x-ndjson': 'stream',
  'text/plain': 'text',
  'text/html': 'text',
};
const JSON_TYPES = ['application/json', 'application/merge-patch+json'];

export function sampleOf({ method, path, operation }: OperationEntry, document: ApiDocument): SampleRequest {
  const { operationId: id, parameters = [], security } = operation;
  const [type, media] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  const body = type === undefined || media?.example === undefined ? null : { type, value: media.example };
  const inPath = parameters.filter(({ in: place }) => place === 'path');
  const values = new Map(inPath.map(({ name, example }) => [name, String(example ?? name)]));
  // What the body may hold is sent there; of the rest a sample has what must be given.
  const held = new Set(Object.keys((media?.schema as { properties?: object } | undefined)?.properties ?? {}));
  const asked = parameters.filter(
    ({ in: place, name, required }) => place === 'query' && required === true && !held.has(name),
  );
  const query = new URLSearchParams(asked.map(({ name, example }) => [name, String(example ?? '')]));
  const filled = path.replace(/\{(\w+)\}/g, (whole, name: string) => encodeURIComponent(values.get(name) ?? whole));
  const isTaken = body !== null && JSON_TYPES.includes(body.type);
  const isWhole = held.size === 0;
  return {
    ...{
      id,
      method: method.toUpperCase(),
      server: document.servers[0]?.url ?? '',
      body,
      isPublic: security?.length === 0,
    },
    target: query.size === 0 ? filled : `${filled}?${query}`,
    input: {
      ...Object.fromEntries(values),
      ...Object.fromEntries(asked.map(({ name, example }) => [name, example])),
      ...(isTaken ? (isWhole ? { body: body.value } : (body.value as object)) : {}),
    },
    answer: answerOf(operation),
  };
}

function answerOf({ responses, parameters = [] }: ApiOperation): AnswerKind {
  const [, good] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
  const [[type = '', media] = []] = Object.entries(good?.content ?? {});
  const kind = KINDS[type];
  if (kind !== undefined) return kind;
  const { properties = {} } = (media?.schema ?? {}) as { readonly properties?: Readonly<Record<string, unknown>> };
  const isPage = 'page_info' in properties && parameters.some(({ name }) => name === 'after');
  return isPage ? 'page' : 'json';
}
