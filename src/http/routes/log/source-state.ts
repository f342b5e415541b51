import { utf8 } from '../../../domain/bytes.ts';
import { PREFIX } from '../../../domain/ids.ts';
import { SOURCE_STATE, type StateValue } from '../../../domain/run/source-state.ts';
import type { App } from '../../app-type.ts';
import { Verbatim } from '../../body/json.ts';
import type { HttpDeps } from '../../deps.ts';
import { found } from '../../found.ts';
import { dataOf, idIn, operation } from '../../openapi/operation.ts';
import { nullable, text } from '../../openapi/schema.ts';
import { Type } from '../../schema/type.ts';

const STATE_VALUE = Type.Object(
  {
    name: nullable(
      text({ description: `Null when it is longer than ${SOURCE_STATE.nameChars} characters.`, example: 'cursor' }),
    ),
    value: Type.Optional(
      Type.Unknown({
        description: `Any JSON, as the source wrote it; left out when its text is longer than ${SOURCE_STATE.valueChars} characters.`,
        examples: ['2026-01-02T03:04:05Z'],
      }),
    ),
    chars: Type.Integer({ description: 'Length of the value as JSON text.', examples: [22] }),
  },
  { title: 'SourceStateValue' },
);

const SOURCE_STATE_WHOLE = Type.Object(
  {
    count: Type.Integer({ description: 'Names that it keeps, also those that are not shown.', examples: [1] }),
    values: Type.Array(STATE_VALUE, { description: `At most ${SOURCE_STATE.values}, in the order of their names.` }),
  },
  { title: 'SourceState' },
);

export function addSourceStateRoute(app: App, { store }: HttpDeps): void {
  const schema = operation({
    id: 'getSourceState',
    tag: 'sources',
    access: 'read',
    summary: 'Read the state of a source',
    description: `What it has in \`$.service.db\` since its last run that ended: ${SOURCE_STATE.values} names, from the first one or behind \`skip\` of them. What you hide is hidden.`,
    params: idIn(PREFIX.source, 'The source.'),
    query: {
      skip: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: SOURCE_STATE.maxSkip,
          description: 'How many names to pass over; none when not given.',
          examples: [SOURCE_STATE.values],
        }),
      ),
    },
    answer: dataOf(SOURCE_STATE_WHOLE),
  });
  app.get('/v1/sources/:id/state', { schema }, async ({ params, query, caller }) => {
    const state = await store.sourceState(caller.ownerId, params.id, query.skip);
    const { count, values } = found(state, 'source', params.id);
    return { data: { count, values: values.map(valueToWire) } };
  });
}

function valueToWire({ name, value, chars }: StateValue) {
  return { name, ...(value === null ? {} : { value: new Verbatim(utf8(value)) }), chars };
}
