// All errors that are kept, as NDJSON: of an owner, or of one workflow, source or webhook.

import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { ERRORS } from '../../../domain/emission.ts';
import { entryOf, PREFIX } from '../../../domain/ids.ts';
import { KIB, LIMITS } from '../../../domain/limits.ts';
import { Refusal } from '../../../domain/refusal.ts';
import { AHEAD } from '../../../domain/stream.ts';
import { stillGood } from '../../access/still-good.ts';
import type { App } from '../../app-type.ts';
import type { HttpDeps } from '../../deps.ts';
import { idIn, operation } from '../../openapi/operation.ts';
import { text } from '../../openapi/schema.ts';
import { Type } from '../../schema/type.ts';
import { EXPORTED_ERROR } from '../../wire/log/emissions.ts';
import { ERROR_FILTER, errorFilterOf } from '../../wire/log/error-filter.ts';
import { wrong } from '../../wire/times.ts';
import { exists } from './emitters.ts';
import { exportErrors } from './export-errors.ts';

const NOUNS = [
  { noun: 'workflow', name: 'Workflow', path: 'workflows', prefix: PREFIX.workflow },
  { noun: 'source', name: 'Source', path: 'sources', prefix: PREFIX.source },
  { noun: 'webhook', name: 'Webhook', path: 'webhooks', prefix: PREFIX.webhook },
] as const;

const AFTER = {
  after: Type.Optional(
    text({ description: 'Only errors behind this one: the `id` of a line, or the cursor of the last line.' }),
  ),
};
const { emitter_id: _emitter, ...OF_EMITTER } = ERROR_FILTER;

const QUERY = Type.Object({ ...ERROR_FILTER, ...AFTER });

const DESCRIPTION =
  'Everything that is kept, oldest first: one JSON object a line, with the original event as a string that holds its text exactly as it arrived (`original_event_text`; should the bytes be no UTF-8, `original_event_base64`). The last line is `{"end": {"complete", "cursor", "count"}}`. Without it the answer was cut off; with `"complete": false` the server stopped. Both go on with `after`: the `id` of the last line, or that cursor, which also exports later what came since.';

const EXAMPLE = `{"id":"1782000000123-0","indexed_at_ms":1782000000123,"metadata":{"emitter_id":"p_0Vj3aBc9dEfGhIjK","emit_id":"k3x9qg4w9zl7un4","name":"$errors","group_id":"eg_0Vj3aBc9dEfGhIjK"},"error":{"code":"TypeError"},"original_context":{"id":"k3x9qg4w9zl7uo0"},"original_event_text":"{\\"order\\":12345}"}
{"end":{"complete":true,"cursor":"1782000000123-0","count":1}}
`;

const ANSWER = {
  tag: 'errors',
  access: 'read',
  description: DESCRIPTION,
  mediaType: 'application/x-ndjson',
  item: EXPORTED_ERROR,
  answer: Type.String({ examples: [EXAMPLE] }),
} as const;

export function addErrorExportRoutes(app: App, deps: HttpDeps): void {
  const exporter = new Exporter(deps);
  const query = { ...ERROR_FILTER, ...AFTER };
  const all = operation({ id: 'exportErrors', summary: 'Export all errors', query, ...ANSWER });
  app.get('/v1/errors/export', { schema: all, exposeHeadRoute: false }, (request, reply) =>
    exporter.send({ request, reply, emitterId: request.query.emitter_id, query: request.query }),
  );
  for (const { noun, name, path, prefix } of NOUNS) {
    const schema = operation({
      id: `export${name}Errors`,
      summary: `Export the errors of a ${noun}`,
      params: idIn(prefix, `The ${noun}.`),
      query: { ...OF_EMITTER, ...AFTER },
      ...ANSWER,
    });
    app.get(`/v1/${path}/:id/$errors/export`, { schema, exposeHeadRoute: false }, async (request, reply) => {
      const { id } = request.params;
      await exists(deps.store, request.caller.ownerId, { id, noun, prefix });
      return exporter.send({ request, reply, emitterId: id, query: request.query });
    });
  }
}

interface ExportRequest {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly emitterId: string | undefined;
  readonly query: Static<typeof QUERY>;
}

/** Exports of one process. */
class Exporter {
  readonly #deps: HttpDeps;
  /** How many are under way, by owner. */
  readonly #open = new Map<string, number>();

  constructor(deps: HttpDeps) {
    this.#deps = deps;
  }

  async send({ request, reply, emitterId, query }: ExportRequest): Promise<FastifyReply> {
    const { ownerId } = request.caller;
    const filter = errorFilterOf(query);
    const after = await this.#afterOf(query.after);
    const open = this.#open.get(ownerId) ?? 0;
    if (open >= LIMITS.exportsPerOwner) throw tooMany();
    const channel = { ownerId, emitterId: emitterId ?? ownerId, name: ERRORS };
    const lines = exportErrors(this.#deps.store, { channel, filter, after, mayGoOn: this.#mayGoOn(request) });
    const stream = Readable.from(lines, { objectMode: false, highWaterMark: 64 * KIB });
    this.#open.set(ownerId, open + 1);
    stream.once('close', () => this.#closed(ownerId));
    reply.header('content-type', 'application/x-ndjson');
    reply.header('content-disposition', 'attachment; filename="errors.ndjson"');
    return reply.send(stream);
  }

  /** Refuses a cursor that no error has had: the export would be empty, however often it is asked for. */
  async #afterOf(after: string | undefined): Promise<number | null> {
    if (after === undefined) return null;
    const entry = entryOf(after);
    if (entry === undefined) throw wrong('after', 'must be the id of a line, like 1782000000123-0', after);
    if (entry <= (await this.#deps.store.logEnd()) + AHEAD) return entry;
    throw wrong('after', 'must be the id of a line that was exported, and is that of no error so far', after);
  }

  #closed(ownerId: string): void {
    const left = (this.#open.get(ownerId) ?? 1) - 1;
    if (left > 0) this.#open.set(ownerId, left);
    else this.#open.delete(ownerId);
  }

  /**
   * Returns a function that tells whether the export may go on. An export may take minutes: the process may stop, and the key
   * may be revoked.
   */
  #mayGoOn(request: FastifyRequest): () => Promise<boolean> {
    const { store, draining } = this.#deps;
    const isGood = stillGood(store, request);
    return async () => !draining() && (await isGood());
  }
}

function tooMany(): Refusal {
  const detail = `${LIMITS.exportsPerOwner} exports of yours are under way at this process; wait until one of them is over`;
  return new Refusal('rate_limited', detail, { retryAfterS: 10 });
}
