// Source components as `errand deploy` sends them.

import { oneOf } from '../openapi/schema.ts';
import { Type } from '../schema/type.ts';
import { NAME, PROPS, SOURCE_WHOLE } from './sources.ts';
import { BUNDLED_FILE, PROJECT } from './workflow-files.ts';

export const SOURCE_FILE_INPUT = {
  ...BUNDLED_FILE,
  project: Type.Optional(PROJECT),
  name: Type.Optional(NAME),
  configured_props: Type.Optional(PROPS),
  from_folder: Type.Optional(
    Type.Boolean({
      description:
        'It is one of all files of a folder: what is no source with a `key`, and was not deployed before, is skipped; what looks like a workflow is refused.',
      examples: [false],
    }),
  ),
  dry_run: Type.Optional(
    Type.Boolean({ description: 'Nothing is deployed: `result` says what would become of it.', examples: [false] }),
  ),
};

export const SOURCE_FILE_ANSWER = Type.Object({
  result: oneOf(
    ['made', 'changed', 'same', 'skipped'],
    'What became of the source; `same`: nothing has changed. `skipped`: the file is no source.',
  ),
  source: Type.Optional(SOURCE_WHOLE),
});
