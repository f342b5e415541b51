// What differs between failures and successes, as shown.

import type { Static } from 'typebox';
import { type ComparedCount, type ComparedRun, type Differences, inWords } from '../../../domain/errors/differences.ts';
import type { StepDiff } from '../../../domain/errors/line-diff.ts';
import { numberedId, PREFIX, recordId } from '../../../domain/ids.ts';
import { id, nullable, RECORD_ID, text } from '../../openapi/schema.ts';
import { Type } from '../../schema/type.ts';
import { runIdOf } from './runs.ts';

const howMany = (description: string) => Type.Integer({ minimum: 0, description, examples: [41] });

const LOOKED = Type.Object(
  {
    count: howMany('How many were looked at.'),
    part: Type.Boolean({ description: 'There are more, which were not looked at.', examples: [false] }),
  },
  { title: 'LookedAt', description: 'How many runs were looked at.' },
);

const TYPES = Type.Array(text({ example: 'string' }), { description: 'Empty: the field is missing.' });

export const STEP_DIFF = Type.Object(
  {
    namespace: text({ description: 'The step.', example: 'charge' }),
    lines: Type.Union([Type.Array(Type.String()), Type.Null()], {
      description:
        'Lines of the code. A line begins with a space when both have it, with `-` when only the older one has it, and with `+` when only the newer one has it. Null: too many lines differ.',
      examples: [['-return total * rate;', '+return total * rate.toFixed(2);']],
    }),
  },
  { title: 'StepDifference' },
);

export function stepDiffToWire({ namespace, lines }: StepDiff): Static<typeof STEP_DIFF> {
  return { namespace, lines: lines && [...lines] };
}

export const DIFFERENCES = Type.Object(
  {
    group_id: id('eg_'),
    looked_at: Type.Object(
      { failures: LOOKED, successes: LOOKED },
      { description: 'How many failures and successes were compared.' },
    ),
    fields: Type.Array(
      Type.Object({
        path: text({ description: 'The field; `[]`: any element of an array.', example: 'body.currency' }),
        type: text({ description: '`missing`, or a type of JSON; `empty string`, `empty array`.', example: 'null' }),
        value: Type.Optional(
          Type.Union([Type.String(), Type.Number(), Type.Boolean()], {
            description: 'One value that it has; absent: any of the type.',
            examples: ['EUR'],
          }),
        ),
        failures: howMany('Failures in which the field is so.'),
        successes: howMany('Successes in which the field is so.'),
        text: text({
          description: 'The same as a sentence.',
          example: '`body.currency` is null in 41 of 41 failures, in 0 of 9,412 successes',
        }),
      }),
      { description: 'What separates failures from successes, the clearest first; of each field one fact.' },
    ),
    last_good: nullableObject('The last run that succeeded before the first error', {
      run_id: id('r_'),
      deployment_id: nullable(id('d_', 'Deployment of the run; null: it is not known.')),
    }),
    first_bad: nullableObject('The first error of the group', {
      error_id: RECORD_ID,
      run_id: nullable(id('r_', 'The run that failed; null: none did.')),
      deployment_id: nullable(id('d_', 'Deployment of the run; null: it is not known.')),
    }),
    code: Type.Union([Type.Array(STEP_DIFF), Type.Null()], {
      description: 'Steps that the two deployments have differently; null: it is one deployment, or one is not kept.',
    }),
    shape: Type.Union(
      [
        Type.Array(
          Type.Object({
            path: text({ description: 'The field.', example: 'body.currency' }),
            before: TYPES,
            after: TYPES,
          }),
        ),
        Type.Null(),
      ],
      {
        description: 'Fields with other types in the first bad event than in the last good one.',
      },
    ),
  },
  { title: 'Differences' },
);

function nullableObject<T extends Parameters<typeof Type.Object>[0]>(what: string, members: T) {
  return Type.Union([Type.Object(members), Type.Null()], { description: `${what}; null: it is not kept.` });
}

export function differencesToWire(of: Differences): Static<typeof DIFFERENCES> {
  const { group, failures, successes, fields, lastGood, firstBad, code, shape } = of;
  const counts = { failures: failures.count, successes: successes.count };
  return {
    group_id: group.id,
    looked_at: { failures: lookedToWire(failures), successes: lookedToWire(successes) },
    fields: fields.map((difference) => ({
      path: difference.path,
      type: difference.fact.type,
      ...(difference.fact.value === undefined || difference.fact.value === null
        ? {}
        : { value: difference.fact.value }),
      failures: difference.failures,
      successes: difference.successes,
      text: inWords(difference, counts),
    })),
    last_good: lastGood && { run_id: numberedId(PREFIX.run, lastGood.run ?? 0), deployment_id: lastGood.deploymentId },
    first_bad: firstBad && badToWire(firstBad),
    code: code === null ? null : code.map(stepDiffToWire),
    shape:
      shape === null
        ? null
        : shape.map(({ path, before, after }) => ({ path, before: [...before], after: [...after] })),
  };
}

function badToWire({ run, entry, deploymentId }: ComparedRun) {
  return { error_id: recordId(entry), run_id: runIdOf(run), deployment_id: deploymentId };
}

const lookedToWire = ({ count, isPart }: ComparedCount) => ({ count, part: isPart });
