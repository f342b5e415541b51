import type { App } from '../app-type.ts';
import type { HttpDeps } from '../deps.ts';
import { dataOf, operation } from '../openapi/operation.ts';
import { SOURCE_FILE_ANSWER, SOURCE_FILE_INPUT } from '../wire/source-files.ts';
import { sourceWholeToWire } from '../wire/sources.ts';

export function addSourceFileRoutes(app: App, { actions, urls }: HttpDeps): void {
  const schema = operation({
    id: 'deploySourceFile',
    tag: 'sources',
    access: 'write',
    summary: 'Deploy a source file',
    description:
      'The request that `errand deploy` sends: a source component, bundled with everything that it imports. The same path is the same source, which is created, changed, or left as it is. `configured_props` replaces all props; without it, they stay, except those that the code no longer has.',
    body: SOURCE_FILE_INPUT,
    answer: dataOf(SOURCE_FILE_ANSWER),
  });
  app.put('/v1/source_files', { schema }, async ({ body, caller }) => {
    const {
      source_map: sourceMap,
      configured_props: configuredProps,
      from_folder: fromFolder = false,
      dry_run: isDryRun = false,
      ...given
    } = body;
    const { path, project = null, source, bundle, name } = given;
    const input = { path, project, source, bundle, sourceMap, name, configuredProps, fromFolder, isDryRun };
    const { result, whole } = await actions.deploySourceFile(caller.ownerId, input);
    return { data: { result, ...(whole ? { source: sourceWholeToWire(whole, urls.endpointUrl, false) } : {}) } };
  });
}
