// Reads whose answers are large, or that compute for long: of one owner few at a time. An answer has a hundred events, each as
// large as events may be, and is in memory until its caller has read it.

import type { ServerResponse } from 'node:http';
import type { RouteOptions } from 'fastify';
import type { TSchema } from 'typebox';
import { Refusal } from '../../domain/refusal.ts';
import type { App } from '../app-type.ts';
import { propertiesOf } from '../params.ts';

/** Of one owner at this process: answered at a time, and further ones that wait. */
export const TURNS = { atOnce: 2, waiting: 1000 } as const;

/** Operations that read thousands of events to answer. */
const COMPUTE: ReadonlySet<string | undefined> = new Set(['getErrorGroupDifferences', 'previewErrorGroups']);

export function addTurns(app: App): void {
  const turns = new Turns();
  app.addHook('onRoute', (route) => {
    const isComputed = COMPUTE.has(route.schema?.operationId);
    if (!isComputed && !hasWholeEvents(route)) return;
    const before = route.preHandler === undefined ? [] : [route.preHandler].flat();
    const take: (typeof before)[number] = async (request, reply) => {
      const { expand } = request.query as { expand?: string };
      if (isComputed || expand === 'event') await turns.take(request.caller.ownerId, reply.raw);
    };
    route.preHandler = [...before, take];
  });
}

/** Returns whether a route is a list whose records may have their events with them. */
export function hasWholeEvents({ schema }: Pick<RouteOptions, 'schema'>): boolean {
  const query = propertiesOf(schema?.querystring as TSchema | undefined);
  return 'limit' in query && (query.expand as { const?: unknown } | undefined)?.const === 'event';
}

interface Owner {
  taken: number;
  readonly waiting: (() => void)[];
}

export class Turns {
  readonly #owners = new Map<string, Owner>();

  /**
   * Waits for a place of the owner, and keeps it until the answer is sent or its caller is gone. Throws `Refusal` (rate_limited) when
   * too many wait already, or the caller is gone.
   */
  async take(ownerId: string, response: Pick<ServerResponse, 'once' | 'off' | 'destroyed'>): Promise<void> {
    const owner = this.#owners.get(ownerId) ?? { taken: 0, waiting: [] };
    this.#owners.set(ownerId, owner);
    if (owner.taken >= TURNS.atOnce) await waitFor(owner, response);
    else owner.taken++;
    const free = (): void => {
      const next = owner.waiting.shift();
      if (next) next();
      else if (--owner.taken === 0) this.#owners.delete(ownerId);
    };
    if (!response.destroyed) response.once('close', free);
    else {
      free();
      throw gone();
    }
  }
}

/** Resolves when a place is handed on. */
async function waitFor({ waiting }: Owner, response: Pick<ServerResponse, 'once' | 'off'>): Promise<void> {
  if (waiting.length >= TURNS.waiting) {
    const detail = `${waiting.length} reads of whole events, or comparisons, of yours wait already: ${TURNS.atOnce} are answered at a time`;
    throw new Refusal('rate_limited', detail, { retryAfterS: 1 });
  }
  await new Promise<void>((resolve, reject) => {
    const begin = (): void => {
      response.off('close', leave);
      resolve();
    };
    const leave = (): void => {
      waiting.splice(waiting.indexOf(begin), 1);
      reject(gone());
    };
    waiting.push(begin);
    response.once('close', leave);
  });
}

function gone(): Refusal {
  return new Refusal('unavailable', 'The caller is gone');
}
