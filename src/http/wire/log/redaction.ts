// What is hidden where events and messages are shown.

import type { Static } from 'typebox';
import { REDACTION_LIMITS } from '../../../domain/privacy/limits.ts';
import type { Redaction } from '../../../domain/privacy/rules.ts';
import { text } from '../../openapi/schema.ts';
import { Type } from '../../schema/type.ts';

const rule = (example: string) => text({ minLength: 1, maxLength: REDACTION_LIMITS.redactionRuleChars, example });

const KEYS = Type.Array(rule('password'), {
  maxItems: REDACTION_LIMITS.redactedKeys,
  description:
    'Names of members whose values are hidden, at any depth, also in query strings and headers; `*` stands for any characters. Case, `-`, `_` and spaces do not count: `api_key` hides `X-Api-Key` only with `*apikey`, and `apiKey` as it is.',
  examples: [['password', '*token', 'card_number']],
});

const PATTERNS = Type.Array(rule('\\b\\d{13,19}\\b'), {
  maxItems: REDACTION_LIMITS.redactionPatterns,
  description:
    'Regular expressions in the syntax of RE2, without lookaround and back references. What they match is hidden: in texts, names of members, and numbers, which are hidden whole.',
  examples: [['\\b\\d{13,19}\\b', '[a-z0-9.]+@[a-z0-9.]+']],
});

const FIELDS = { keys: KEYS, patterns: PATTERNS };

export const REDACTION = Type.Object(FIELDS, { title: 'Redaction' });
export const REDACTION_SET = { keys: Type.Optional(KEYS), patterns: Type.Optional(PATTERNS) };

const BEFORE_STORING = Type.Boolean({
  description:
    'The rules, with those of the owner, hold for what is stored, too: events of the workflow’s triggers and runs by hand, which its code gets so, what its runs leave, and its errors. Errors that are stored so are not replayed, and their runs not tried again.',
  examples: [false],
});

export const WORKFLOW_REDACTION = Type.Object(
  { ...FIELDS, before_storing: BEFORE_STORING },
  { title: 'WorkflowRedaction' },
);
export const WORKFLOW_REDACTION_SET = { ...REDACTION_SET, before_storing: Type.Optional(BEFORE_STORING) };

const SET = Type.Object(WORKFLOW_REDACTION_SET);

/** Reads the rules of an owner. What is not given is empty, or off. */
export function redactionInput(input: Static<typeof SET>): Redaction {
  const { keys = [], patterns = [], before_storing: beforeStoring = false } = input;
  return { keys: [...new Set(keys)], patterns: [...new Set(patterns)], beforeStoring };
}

export function redactionToWire({ keys, patterns }: Redaction): Static<typeof REDACTION> {
  return { keys: [...keys], patterns: [...patterns] };
}

export function workflowRedactionToWire(redaction: Redaction): Static<typeof WORKFLOW_REDACTION> {
  return { ...redactionToWire(redaction), before_storing: redaction.beforeStoring };
}
