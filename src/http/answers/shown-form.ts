// What all answers have in common, added to each when its route has made it: the ISO 8601 text of times, and of lists the
// members that were chosen.

import type { FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import type { App } from '../app-type.ts';
import { propertiesOf } from '../params.ts';
import { checkFields, withFields } from './fields.ts';
import { withIsoTimes } from './iso-times.ts';

const OK = 200;

export function addShownForm(app: App): void {
  app.addHook('preHandler', async (request) => {
    const schema = schemaOf(request, OK);
    if (schema && hasFields(request)) checkFields(request.query as object, schema);
  });
  app.addHook('preSerialization', async (request, reply, payload) => {
    const schema = schemaOf(request, reply.statusCode);
    if (!schema) return payload;
    const answer = withIsoTimes(payload, schema);
    return hasFields(request) ? withFields(answer, request.query as object) : answer;
  });
}

/** Returns the schema of an answer that is JSON. */
function schemaOf({ routeOptions }: FastifyRequest, status: number): TSchema | undefined {
  const answer = (routeOptions.schema?.response as Readonly<Record<string, TSchema>> | undefined)?.[status];
  return answer && 'content' in answer ? undefined : answer;
}

function hasFields({ routeOptions }: FastifyRequest): boolean {
  return 'include' in propertiesOf(routeOptions.schema?.querystring as TSchema | undefined);
}
