// Refuses query parameters that are misspelt, or of another request: `?stat=failed` would list everything, and a wrong condition
// act on everything. A route's own schemas say what it has, so that this holds for every route that is added. All other names
// are ignored: code that was written for the hosted service, and tools between, add parameters of their own.
//
// Pages and checks, which are public and outside `/v1`, take any: load balancers, browsers and monitors call them. What the
// ingress answers (`/e/…`, `/r/…`) does not come here: there the query belongs to the event.

import type { FastifyRequest, FastifySchema } from 'fastify';
import type { TSchema } from 'typebox';
import { type ParameterFault, Refusal } from '../domain/refusal.ts';
import type { App } from './app-type.ts';
import { propertiesOf } from './params.ts';
import { knownNames, similarName } from './suggestion.ts';

const MAX_FAULTS = 20;
/** They choose how much is shown, and not of what: nothing else is done where they are ignored. */
const ABOUT_ANSWERS: ReadonlySet<string> = new Set(['expand', 'include', 'exclude']);
/** A query has room for thousands of names, each of which is compared with all of the route. */
const MAX_COMPARED = 100;

/**
 * Adds the check of query parameters. It is called after every hook that refuses callers: names of parameters are told to those
 * alone who may use the route.
 */
export function addQueryCheck(app: App): void {
  /** Of the queries of all routes. */
  const names = new Set<string>();
  app.addHook('onRoute', ({ schema }) => {
    for (const name of Object.keys(propertiesOf(schema?.querystring as TSchema | undefined)))
      if (!ABOUT_ANSWERS.has(name)) names.add(name);
  });
  app.addHook('onRequest', async (request) => {
    if (request.is404 || takesAny(request)) return;
    const given = Object.keys(request.query as Record<string, unknown>);
    const { method, routeOptions } = request;
    if (given.length > 0) refuseWrong(given, namesOf({ method, schema: routeOptions.schema }), names);
  });
}

function takesAny({ routeOptions: { config, url = '' } }: FastifyRequest): boolean {
  return config.access?.access === 'public' && !url.startsWith('/v1/');
}

/** Returns what the route takes in its query: its members of a body, too, but where there is no body. */
function namesOf({ method, schema }: { method: string; schema: FastifySchema | undefined }): string[] {
  const query = Object.keys(propertiesOf(schema?.querystring as TSchema | undefined));
  if (method === 'GET' || method === 'HEAD') return query;
  return [...query, ...Object.keys(propertiesOf(schema?.body as TSchema | undefined))];
}

/** Refuses what is neither ignored nor known. `known`: names of this route; `elsewhere`: of any. */
function refuseWrong(given: readonly string[], known: readonly string[], elsewhere: ReadonlySet<string>): void {
  const unknown = given.filter((name) => !known.includes(name)).slice(0, MAX_COMPARED);
  const wrong = unknown.filter((name) => elsewhere.has(name) || similarName(name, known) !== null);
  const first = wrong[0];
  if (first === undefined) return;
  const errors: ParameterFault[] = wrong.slice(0, MAX_FAULTS).map((name) => {
    return { parameter: name, message: `is not a parameter of this request; ${knownNames(name, known)}` };
  });
  throw new Refusal('malformed', `Unknown query parameter ${JSON.stringify(first)}: ${knownNames(first, known)}`, {
    errors,
  });
}
