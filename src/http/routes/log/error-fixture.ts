// An error as a file, with which a user's own test runs the workflow's code (sdk/testing.ts).

import { ERRORS } from '../../../domain/emission.ts';
import { errorPartsOf } from '../../../domain/errors/error-parts.ts';
import { isRedacted } from '../../../domain/errors/replay.ts';
import { errorIn } from '../../../domain/failure.ts';
import { entryOf } from '../../../domain/ids.ts';
import type { App } from '../../app-type.ts';
import { Verbatim } from '../../body/json.ts';
import type { HttpDeps } from '../../deps.ts';
import { found, notFound } from '../../found.ts';
import { operation } from '../../openapi/operation.ts';
import { EMITTER, id, RECORD_ID, text } from '../../openapi/schema.ts';
import { Type } from '../../schema/type.ts';
import { ERROR, ORIGINAL_CONTEXT } from '../../wire/log/emissions.ts';
import { originalText } from '../../wire/log/error-lines.ts';

const FIXTURE = Type.Object(
  {
    fixture: Type.Literal(1, { description: 'The version of this form.', examples: [1] }),
    id: RECORD_ID,
    emitter_id: EMITTER,
    step: Type.Object(
      { namespace: text({ description: 'Name of the step.', example: 'charge' }), id: id('c_') },
      { description: 'The step that failed.' },
    ),
    error: ERROR,
    original_context: ORIGINAL_CONTEXT,
    original_event_text: Type.Optional(
      text({ description: 'The text of the event, exactly as it arrived.', example: '{"order": 12345}' }),
    ),
    original_event_base64: Type.Optional(text({ description: 'In its place, should the bytes be no UTF-8.' })),
    redacted: Type.Boolean({
      description:
        'True: rules hide a part of the event or of the error, or hid it before it was stored, so code that is tested with it gets `[redacted]` in its place.',
      examples: [false],
    }),
  },
  { title: 'ErrorFixture' },
);

export function addErrorFixtureRoute(app: App, { store }: HttpDeps): void {
  const schema = operation({
    id: 'getErrorFixture',
    tag: 'errors',
    access: 'read',
    summary: 'Read an error as a test’s fixture',
    description:
      'A file for a test of your own: the original event byte for byte, its context, the step that failed and how. `runFixture` of `errand/testing` runs a workflow’s code with it. Of an event that rules redact it has what they leave, and says so.',
    params: { record_id: RECORD_ID },
    answer: FIXTURE,
  });
  app.get('/v1/errors/:record_id/fixture', { schema }, async ({ params, caller }, reply) => {
    const { record_id: recordId } = params;
    const entry = found(entryOf(recordId), 'error', recordId);
    const emission = found(await store.getEmission(caller.ownerId, entry), 'error', recordId);
    if (emission.name !== ERRORS) throw notFound('error', recordId);
    const { originalStart: start, originalLength: length, body, emitterId } = emission;
    const original = start === null || length === null ? null : { start, length };
    const { originalEvent, originalContext, error } = errorPartsOf(body, original);
    const { namespace = '', cellId } = errorIn(Buffer.concat([Buffer.from('"error":'), error, Buffer.from('}')]));
    reply.header('content-disposition', `attachment; filename="error-${recordId}.json"`);
    return {
      fixture: 1,
      id: recordId,
      emitter_id: emitterId,
      step: { namespace, id: cellId },
      error: new Verbatim(error),
      original_context: new Verbatim(originalContext),
      ...originalText(originalEvent),
      redacted: emission.isRedacted === true || isRedacted(emission),
    };
  });
}
