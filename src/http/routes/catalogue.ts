import type { App } from '../app-type.ts';
import type { HttpDeps } from '../deps.ts';
import { dataOf, operation } from '../openapi/operation.ts';
import { Type } from '../schema/type.ts';
import { COMPONENT, componentToWire } from '../wire/catalogue.ts';

export function addCatalogueRoutes(app: App, { actions }: HttpDeps): void {
  const list = operation({
    id: 'listComponents',
    tag: 'components',
    access: 'read',
    summary: 'List built-in components',
    description:
      'The sources that come with Errand, sorted by key. Create one with `POST /v1/sources` and its key as `component`.',
    answer: dataOf(Type.Array(COMPONENT)),
  });
  app.get('/v1/components', { schema: list }, async () => {
    return { data: (await actions.listComponents()).map(componentToWire) };
  });

  const get = operation({
    id: 'getComponent',
    tag: 'components',
    access: 'read',
    summary: 'Read a built-in component',
    description: 'Returns what it does, and its props.',
    params: { key: Type.String({ description: 'Its key.', examples: ['rss'] }) },
    answer: dataOf(COMPONENT),
  });
  app.get('/v1/components/:key', { schema: get }, async ({ params }) => {
    return { data: componentToWire(await actions.getComponent(params.key)) };
  });
}
