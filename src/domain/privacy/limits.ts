// Limits of what is hidden where events are shown.

import { SECOND_MS } from '../limits.ts';

export const REDACTION_LIMITS = {
  /** Rules of an owner or a workflow: names of members, patterns, and the length of each. */
  redactedKeys: 100,
  redactionPatterns: 20,
  redactionRuleChars: 200,
  /** Of a member's name, what rules match. */
  redactedNameChars: 256,
  /** Instructions of all patterns of one place together. */
  redactionProgram: 2000,
  /** Instructions times characters that are spent on one event: what would take more is hidden as a whole. */
  redactionSteps: 2 ** 28,
  /** CPU time that is spent on one event, for the same. */
  redactionMs: 400,
  /** How long the rules of an owner may be used that were read before, where each event asks for them. */
  redactionAgeMs: SECOND_MS,
} as const;
