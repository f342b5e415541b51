// Whether components would run here.

import type { Static } from 'typebox';
import { LIMITS } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';
import { CHECKED_KINDS, type CheckInput, type ComponentChecks } from '../../domain/requests.ts';
import { nullable, oneOf, text } from '../openapi/schema.ts';
import { Type } from '../schema/type.ts';

export const COMPONENT_CHECK = {
  component_code: Type.Optional(
    text({
      description: 'The component: an ES module in JavaScript or TypeScript. Or name files of the server.',
      minLength: 1,
      maxLength: LIMITS.codeBytes,
      example: 'export default { run() {} };',
    }),
  ),
  component_path: Type.Optional(
    text({
      description: 'A file or a folder in the server’s folder of components; `.` is all of it.',
      minLength: 1,
      example: 'shop/sources',
    }),
  ),
  after: Type.Optional(
    text({ description: 'Cursor: only files behind this path.', example: 'shop/sources/new-order.mjs' }),
  ),
};

const PROBLEM = Type.Object(
  {
    file: text({ description: 'Path of the file.', example: 'shop/sources/new-order.mjs' }),
    line: Type.Integer({ description: 'Line, counted from 1.', examples: [3] }),
    column: Type.Integer({ description: 'Column, counted from 1.', examples: [8] }),
    text: text({
      description: 'What is wrong.',
      example: 'prop "size" has type strng, which is not known: see docs/components.md',
    }),
  },
  { title: 'ComponentProblem' },
);

const COMPONENT_CHECKED = Type.Object(
  {
    path: nullable(
      text({ description: 'In the folder of components; null: the code was sent.', example: 'shop/new-order.mjs' }),
    ),
    kind: oneOf(
      CHECKED_KINDS,
      '`app` and `module` (a file that others import) are for other components; `broken`: it cannot be bundled or loaded.',
    ),
    runs: Type.Boolean({
      description: 'Whether nothing is in its way; true for apps and modules, too, where other files can import them.',
      examples: [true],
    }),
    name: nullable(text({ description: 'What it is called; null: it does not say.', example: 'New order' })),
    key: nullable(text({ description: 'Its `key`; null: it has none.', example: 'shop-new-order' })),
    version: nullable(text({ description: 'Its version; null: it does not say.', example: '0.0.1' })),
    imports: Type.Array(text({ example: 'luxon' }), {
      description: 'Packages and modules of Node that it and its files name.',
    }),
    missing_packages: Type.Array(text({ example: 'luxon@^3' }), {
      description: 'Those that are not there, as npm takes them.',
    }),
    accounts: Type.Array(text({ example: 'shop' }), { description: 'Apps of which it needs an account.' }),
    problems: Type.Array(PROBLEM, { description: 'What is in its way.' }),
    warnings: Type.Array(PROBLEM, { description: 'What may fail when that part of the code runs.' }),
  },
  { title: 'ComponentCheck' },
);

export const CHECKS = Type.Object(
  {
    data: Type.Array(COMPONENT_CHECKED, { description: 'The files that were checked, in the order of their paths.' }),
    install: nullable(
      text({
        description:
          'The command that adds all missing packages on the server; null: none is missing, or it has no folder of packages.',
        example: 'npm install --prefix /srv/packages luxon@^3',
      }),
    ),
    truncated: Type.Boolean({
      description: 'There are more files: ask again, with the last `path` as `after`.',
      examples: [false],
    }),
  },
  { title: 'ComponentChecks' },
);

interface CheckParameters {
  readonly component_code?: string;
  readonly component_path?: string;
  readonly after?: string;
}

export function checkInput({ component_code: code, component_path: path, after }: CheckParameters): CheckInput {
  if ((code === undefined) === (path === undefined)) {
    const message = 'exactly one of component_code, component_path says what is checked';
    throw new Refusal('malformed', message, { errors: [{ parameter: 'component_code', message }] });
  }
  return {
    ...(code === undefined ? {} : { componentCode: code }),
    ...(path === undefined ? {} : { componentPath: path }),
    ...(after === undefined ? {} : { after }),
  };
}

export function checksToWire({ components, install, isTruncated }: ComponentChecks): Static<typeof CHECKS> {
  const data = components.map(({ missingPackages, imports, accounts, problems, warnings, ...rest }) => ({
    ...rest,
    imports: [...imports],
    missing_packages: [...missingPackages],
    accounts: [...accounts],
    problems: [...problems],
    warnings: [...warnings],
  }));
  return { data, install, truncated: isTruncated };
}
