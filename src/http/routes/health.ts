import { Refusal } from '../../domain/refusal.ts';
import type { App } from '../app-type.ts';
import type { HttpDeps } from '../deps.ts';
import { operation } from '../openapi/operation.ts';
import { text } from '../openapi/schema.ts';
import { Type } from '../schema/type.ts';

const STATUS = Type.Object({ status: text({ description: 'Always `ok`.', example: 'ok' }) });
const READINESS = Type.Object({
  status: text({ description: '`ok`, or `degraded` when a part that is named does not work', example: 'ok' }),
  bundling: Type.Optional(text({ description: '`failing`: no code can be deployed here; the log says why' })),
});

/** Balancers and monitors add parameters against caches; a check that is refused would take a healthy node away. */
const ANY_QUERY = 'Any query is taken, and ignored.';

export function addHealthRoutes(app: App, { store, metrics, leaving, canBundle }: HttpDeps): void {
  const healthz = operation({
    id: 'getHealth',
    tag: 'service',
    access: 'public',
    answersWhile: ['stopping', 'no_api'],
    summary: 'Check that the server is alive',
    description: `200 as long as the process answers. ${ANY_QUERY}`,
    answer: STATUS,
  });
  app.get('/healthz', { schema: healthz }, async () => ({ status: 'ok' }));

  const readyz = operation({
    id: 'getReadiness',
    tag: 'service',
    access: 'public',
    answersWhile: ['stopping', 'no_api'],
    summary: 'Check that the server is ready',
    description:
      '200 when storage answers, no part of it was found damaged, and the process is not about to stop, else 503. While the process that bundles code cannot be started, `status` is `degraded` and `bundling` is `failing`: events are taken and run, and deploying answers 503. ' +
      ANY_QUERY,
    answer: READINESS,
  });
  app.get('/readyz', { schema: readyz }, async () => {
    if (leaving()) throw new Refusal('unavailable', 'This process is stopping');
    // A failed check is an answer here, not an error of this route.
    const isReady = await store.check().catch(() => false);
    if (!isReady) throw new Refusal('unavailable', 'Storage does not answer, takes no writes, or is damaged');
    // Not 503: a load balancer would also take away the events, which this process still accepts.
    return canBundle() ? { status: 'ok' } : { status: 'degraded', bundling: 'failing' };
  });

  const text200 = operation({
    id: 'getMetrics',
    tag: 'service',
    access: 'admin',
    answersWhile: ['no_api'],
    summary: 'Read metrics',
    description:
      'In Prometheus’ text format, of the whole process and all owners. Where `ERRAND_METRICS_PORT` is set, they are also at that address, without a key.',
    mediaType: 'text/plain',
    answer: Type.String({ examples: ['errand_emissions_accepted_total 42'] }),
  });
  app.get('/metrics', { schema: text200 }, async (_request, reply) => {
    const { contentType, body } = await metrics.text();
    return reply.type(contentType).send(body);
  });
}
