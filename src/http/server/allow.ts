// Answers requests that no route matches: 405 with the path's methods, or 404 with the path that was probably meant.

import type { FastifyInstance } from 'fastify';
import { Refusal } from '../../domain/refusal.ts';
import type { HttpDeps } from '../deps.ts';
import { asPage } from '../missing-page.ts';
import { refused, sendProblem } from '../problem.ts';
import { similarName } from '../suggestion.ts';
import { pathOf } from './target.ts';

/** A path is compared part by part with those of all routes. */
const MAX_PARTS = 10;
const MAX_SHOWN = 200;
const VERSION = '/v1';
/** No wildcard. */
const NAME = /^[\w$.]+$/;

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
  const methodsOf = (path: string) =>
    [...paths.values()].filter(({ pattern }) => pattern.test(path)).flatMap((known) => [...known.methods]);
  const nothing = (path: string): Refusal => nothingAt(path, meantPath(path, { urls: [...paths.keys()], methodsOf }));
  // A route takes `/v1/workflows/` for a workflow whose id is empty.
  app.addHook('onRequest', async (request) => {
    if (!request.is404 && hasEmptyPart(request.params)) throw nothing(pathOf(request.url));
  });
  app.setNotFoundHandler((request, reply) => {
    const path = pathOf(request.url);
    const methods = methodsOf(path);
    const allow = [...new Set(methods)].sort().join(', ');
    const refusal =
      allow === ''
        ? nothing(path)
        : new Refusal('method_not_allowed', `${request.method} is not allowed here; allowed: ${allow}`);
    const problem = refused(refusal, request.id, deps);
    sendProblem(
      reply,
      allow === '' ? asPage(problem, request) : { ...problem, headers: { ...problem.headers, allow } },
    );
  });
}

function hasEmptyPart(params: unknown): boolean {
  return Object.entries(params as Readonly<Record<string, string>>).some(([name, part]) => name !== '*' && part === '');
}

function nothingAt(path: string, meant: string | null): Refusal {
  const hint = meant === null || meant.length > MAX_SHOWN ? '' : `did you mean ${meant}? `;
  return new Refusal('not_found', `There is nothing at ${path.slice(0, MAX_SHOWN)}; ${hint}/docs lists what exists`);
}

interface Known {
  /** Paths of routes, with `:name` for what differs. */
  readonly urls: readonly string[];
  readonly methodsOf: (path: string) => readonly string[];
}

/** Returns the path of a route that differs by slashes, by the version in front, or by one misspelt part; null: there is none. */
function meantPath(path: string, { urls, methodsOf }: Known): string | null {
  const parts = path.split('/').filter((part) => part !== '');
  if (parts.length === 0 || parts.length > MAX_PARTS) return null;
  const plain = `/${parts.join('/')}`;
  const behindVersion = plain.lastIndexOf(`${VERSION}/`);
  const placed = [plain, `${VERSION}${plain}`, ...(behindVersion > 0 ? [plain.slice(behindVersion)] : [])];
  const found = placed.find((one) => methodsOf(one).length > 0);
  if (found !== undefined) return found;
  for (const url of urls) {
    const known = url.split('/').slice(1);
    const wrong = parts.flatMap((part, i) => (known[i] === part || known[i]?.startsWith(':') ? [] : [i]));
    const [at = -1, ...more] = wrong;
    const [name, part] = [known[at], parts[at]];
    if (known.length !== parts.length || more.length > 0 || name === undefined || part === undefined) continue;
    if (NAME.test(name) && similarName(part, [name]) !== null) return `/${parts.with(at, name).join('/')}`;
  }
  return null;
}

function patternOf(url: string): RegExp {
  const escaped = url.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/:[a-z_]+/g, '[^/]+')}$`);
}
