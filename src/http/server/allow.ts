// Answers requests that no route matches: 405 with the path's methods, or 404.

import type { FastifyInstance } from 'fastify';
import { Refusal } from '../../domain/refusal.ts';
import type { HttpDeps } from '../deps.ts';
import { refused, sendProblem } from '../problem.ts';
import { pathOf } from './target.ts';

interface KnownPath {
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}

/** Adds the answers 404 and 405. It is called before the routes are added, which it collects. */
export function addNotFound(
  app: Pick<FastifyInstance, 'addHook' | 'setNotFoundHandler'>,
  deps: Pick<HttpDeps, 'metrics'>,
): void {
  const paths = new Map<string, KnownPath>();
  app.addHook('onRoute', ({ url, method }) => {
    const known = paths.get(url) ?? { pattern: patternOf(url), methods: new Set() };
    for (const one of [method].flat()) known.methods.add(one);
    paths.set(url, known);
  });
  app.setNotFoundHandler((request, reply) => {
    const path = pathOf(request.url);
    const methods = [...paths.values()]
      .filter(({ pattern }) => pattern.test(path))
      .flatMap((known) => [...known.methods]);
    const allow = [...new Set(methods)].sort().join(', ');
    const refusal =
      allow === ''
        ? new Refusal('not_found', `There is nothing at ${path.slice(0, 200)}; /docs lists what exists`)
        : new Refusal('method_not_allowed', `${request.method} is not allowed here; allowed: ${allow}`);
    const problem = refused(refusal, request.id, deps);
    sendProblem(reply, allow === '' ? problem : { ...problem, headers: { ...problem.headers, allow } });
  });
}

function patternOf(url: string): RegExp {
  const escaped = url.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/:[a-z_]+/g, '[^/]+')}$`);
}
