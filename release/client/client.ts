// Writes src/client/generated/ from docs/openapi.json: the types of what the interface takes and answers, and a method for
// each operation. With `--check` it compares instead, and exits 1 when a file is another.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ApiDocument } from '../../src/http/openapi/document.ts';
import { ROOT } from '../shipped.ts';
import { type ClientOperation, operationsOf } from './operations.ts';
import { commentOf, memberOf, type Schema, typeOf } from './schema-types.ts';

const FOLDER = 'src/client/generated';
const HEAD = '// Made from docs/openapi.json by `npm run generate`; not changed by hand.\n';

const pascal = (id: string): string => `${id.charAt(0).toUpperCase()}${id.slice(1)}`;

/** Returns the text of each generated file by its name. */
export function clientOf(document: ApiDocument): ReadonlyMap<string, string> {
  const operations = operationsOf(document);
  return new Map([
    ['types.ts', typesText(document, operations)],
    ['errand.ts', errandText(operations)],
  ]);
}

function typesText(document: ApiDocument, operations: readonly ClientOperation[]): string {
  const schemas = Object.entries(document.components.schemas as Readonly<Record<string, Schema>>);
  const taken = new Set(schemas.map(([name]) => name));
  const declared = schemas.map(([name, schema]) => declaration(name, schema));
  const ofOperations = operations.flatMap((operation) => {
    const [input, answer] = namesOf(operation);
    for (const name of [input, answer]) {
      if (taken.has(name)) throw new Error(`${name} is the name of a schema and of an operation's type`);
    }
    const members = operation.members.map((member) => memberOf(member, '  ', 'taken')).join('');
    // An object with an unknown member would be taken where no member is declared.
    const taking = members === '' ? `export type ${input} = Readonly<Record<string, never>>;\n` : '';
    return [
      taking || `/** What \`${operation.id}\` takes. */\nexport interface ${input} {\n${members}}\n`,
      declaration(answer, { ...operation.answer, description: undefined }),
    ];
  });
  return `${HEAD}\n${[...declared, ...ofOperations].join('\n')}`;
}

function declaration(name: string, schema: Schema): string {
  const type = typeOf(schema);
  const comment = commentOf(schema.description, '');
  const isInterface = type.startsWith('{\n') && type.endsWith('\n}');
  return isInterface ? `${comment}export interface ${name} ${type}\n` : `${comment}export type ${name} = ${type};\n`;
}

function namesOf({ id, kind }: ClientOperation): readonly [input: string, answer: string] {
  const isItem = kind === 'events' || kind === 'lines';
  return [`${pascal(id)}Input`, `${pascal(id)}${isItem ? 'Item' : 'Answer'}`];
}

/** Kind of answer → the transport's verb, and what a method returns of its answer's type. */
const VERBS: Readonly<Record<ClientOperation['kind'], readonly [verb: string, returns: (type: string) => string]>> = {
  whole: ['send', (type) => `Promise<${type}>`],
  page: ['list', (type) => `Paged<${type}>`],
  events: ['events', (type) => `AsyncIterable<StreamEvent<${type}>>`],
  lines: ['lines', (type) => `AsyncIterable<${type}>`],
  text: ['text', () => 'Promise<string>'],
};

function errandText(operations: readonly ClientOperation[]): string {
  const kinds = new Set(operations.map(({ kind }) => kind));
  const types = operations
    .flatMap((operation) => (operation.kind === 'text' ? namesOf(operation).slice(0, 1) : namesOf(operation)))
    .sort();
  const imports = [
    ...(kinds.has('events') ? [`import type { StreamEvent, StreamOptions } from '../events.ts';`] : []),
    `import type { CallOptions, ErrandOptions } from '../options.ts';`,
    `import type { Paged } from '../paged.ts';`,
    `import { createTransport, type Transport } from '../transport.ts';`,
    `import type {\n${types.map((type) => `  ${type},\n`).join('')}} from './types.ts';`,
  ];
  return `${HEAD}
${imports.join('\n')}

/** A server, as one of its owners sees it. Each method is an operation of the interface, by its name in the OpenAPI document. */
export class Errand {
  readonly #transport: Transport;

  constructor(options: ErrandOptions = {}) {
    this.#transport = createTransport(options);
  }

${operations.map(methodOf).join('\n')}}
`;
}

function methodOf(operation: ClientOperation): string {
  const { id, kind, method, path, summary, description } = operation;
  const [input, answer] = namesOf(operation);
  const [verb, returns] = VERBS[kind];
  const isFree = operation.members.every(({ isOptional }) => isOptional);
  const options = kind === 'events' ? 'StreamOptions' : 'CallOptions';
  const route = [
    `method: '${method}'`,
    `path: '${path}'`,
    ...(operation.query.length > 0 ? [`query: [${operation.query.map((name) => `'${name}'`).join(', ')}]`] : []),
    ...(operation.body === 'none' ? [] : [`body: '${operation.body}'`]),
    ...(operation.isPublic ? ['isPublic: true'] : []),
    ...(operation.takesIdempotencyKey ? ['takesIdempotencyKey: true'] : []),
  ];
  const type = kind === 'text' ? '' : `<${answer}>`;
  return `${commentOf(`${summary}: \`${method} ${path}\`\n\n${description}`, '  ')}  ${id}(input: ${input}${isFree ? ' = {}' : ''}, options: ${options} = {}): ${returns(answer)} {
    return this.#transport.${verb}${type}({ ${route.join(', ')} }, input, options);
  }
`;
}

async function main(): Promise<void> {
  const document = JSON.parse(await readFile(join(ROOT, 'docs/openapi.json'), 'utf8')) as ApiDocument;
  for (const [name, text] of clientOf(document)) {
    const file = join(ROOT, FOLDER, name);
    if (!process.argv.includes('--check')) await writeFile(file, text);
    else if ((await readFile(file, 'utf8').catch(() => '')) !== text) {
      console.error(`${FOLDER}/${name} is not what docs/openapi.json says; run \`npm run generate\``);
      process.exitCode = 1;
    }
  }
}

if (import.meta.main) await main();
