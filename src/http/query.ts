// Refuses query parameters that are probably misspelt: `?stat=failed` would list everything, and a misspelt condition act on
// everything. A route's own schemas say what it has, so that this holds for every route that is added. Names that are like
// none of these are ignored: code that was written for the hosted service, and tools between, add parameters of their own.
//
// Pages and checks, which are public and outside `/v1`, take any: load balancers, browsers and monitors call them. What the
// ingress answers (`/e/…`, `/r/…`) does not come here: there the query belongs to the event.

import type { FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import { type ParameterFault, Refusal } from '../domain/refusal.ts';
import type { App } from './app-type.ts';
import { propertiesOf } from './params.ts';
import { knownNames, similarName } from './suggestion.ts';

const MAX_FAULTS = 20;
/** A query has room for thousands of names, each of which is compared with all of the route. */
const MAX_COMPARED = 100;

/**
 * Adds the check of query parameters. It is called after every hook that refuses callers: names of parameters are told to those
 * alone who may use the route.
 */
export function addQueryCheck(app: App): void {
  app.addHook('onRequest', async (request) => {
    if (request.is404 || takesAny(request)) return;
    const given = Object.keys(request.query as Record<string, unknown>);
    if (given.length > 0) refuseMisspelt(given, namesOf(request));
  });
}

function takesAny({ routeOptions: { config, url = '' } }: FastifyRequest): boolean {
  return config.access?.access === 'public' && !url.startsWith('/v1/');
}

/** Returns what the route takes in its query: its members of a body, too, but where there is no body. */
function namesOf({ method, routeOptions: { schema } }: FastifyRequest): string[] {
  const query = Object.keys(propertiesOf(schema?.querystring as TSchema | undefined));
  if (method === 'GET' || method === 'HEAD') return query;
  return [...query, ...Object.keys(propertiesOf(schema?.body as TSchema | undefined))];
}

function refuseMisspelt(given: readonly string[], known: readonly string[]): void {
  const unknown = given.filter((name) => !known.includes(name)).slice(0, MAX_COMPARED);
  const misspelt = unknown.filter((name) => similarName(name, known) !== null);
  const first = misspelt[0];
  if (first === undefined) return;
  const errors: ParameterFault[] = misspelt.slice(0, MAX_FAULTS).map((name) => {
    return { parameter: name, message: `is not a parameter of this request; ${knownNames(name, known)}` };
  });
  throw new Refusal('malformed', `Unknown query parameter ${JSON.stringify(first)}: ${knownNames(first, known)}`, {
    errors,
  });
}
