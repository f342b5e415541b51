// The rules by which a workflow's errors are grouped: a setting of the workflow, and the parameter of its preview.

import type { Static } from 'typebox';
import type { GroupingRule } from '../../../domain/errors/fingerprint.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { text } from '../../openapi/schema.ts';
import { Type } from '../../schema/type.ts';
import { wrong } from '../times.ts';

/** Names stand in columns of the store, and no database keeps the character NUL. */
const PLAIN = '^[^\\u0000-\\u001f\\u007f]*$';

const part = (description: string, maxLength: number, example: string) =>
  text({
    description,
    minLength: 1,
    maxLength,
    pattern: PLAIN,
    expected: `1 to ${maxLength} characters, without control characters`,
    example,
  });

const RULE = Type.Object(
  {
    group: part('Errors that match make up this group.', LIMITS.groupNameChars, 'cards'),
    code: Type.Optional(part('The code.', LIMITS.codeChars, 'CardError')),
    message: Type.Optional(
      part('The whole message; `*` stands for any characters.', LIMITS.groupingPatternChars, 'card * declined'),
    ),
    step: Type.Optional(part('The name of the step.', LIMITS.namespaceChars, 'charge')),
  },
  { additionalProperties: false, title: 'GroupingRule' },
);

export const GROUPING = Type.Array(RULE, {
  maxItems: LIMITS.groupingRules,
  description:
    'Errors that match all patterns of a rule are one group, whatever their fingerprints; the first rule that matches counts. A rule has a code, a message or a step. Rules apply to errors that come after they were set.',
  examples: [[{ group: 'cards', message: 'card * declined' }]],
});

/** Refuses rules without a pattern. `parameter`: the name of the rules. */
export function groupingInput(
  rules: Static<typeof GROUPING>,
  parameter: 'settings.grouping' | 'grouping',
): readonly GroupingRule[] {
  return rules.map(({ group, code, message, step }, i) => {
    if (code === undefined && message === undefined && step === undefined) {
      throw wrong(`${parameter}[${i}]`, 'needs a code, a message or a step', rules[i]);
    }
    return {
      group: group.toWellFormed(),
      ...(code === undefined ? {} : { code }),
      ...(message === undefined ? {} : { message }),
      ...(step === undefined ? {} : { step }),
    };
  });
}

export function groupingToWire(rules: readonly GroupingRule[]): Static<typeof GROUPING> {
  return rules.map((rule) => ({ ...rule }));
}
