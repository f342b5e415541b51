// Which errors are meant, of all errors of an owner: for the search, replays, streams and exports.

import { causesIn } from './errors/causes.ts';
import type { ErrorDetail } from './failure.ts';
import { containing } from './literal-text.ts';

/** All that are given apply. Everything here is known when the error is emitted, and does not change. */
export interface ErrorFilter {
  /** The workflow, source or webhook that failed. */
  readonly emitterId?: string;
  readonly code?: string;
  /** The group that counts it. */
  readonly groupId?: string;
  /** The name of the step. */
  readonly step?: string;
  /** A part of the message or of a cause, as it is written, in upper or lower case. */
  readonly text?: string;
  /** What is shown of a message or a stack: the text is looked for in that. */
  readonly shown?: (whole: string) => string;
  readonly deploymentId?: string;
  /** Emitted from then on, and before then. */
  readonly sinceMs?: number;
  readonly untilMs?: number;
}

/** The columns of an error that a filter reads. */
export interface ErrorHead {
  readonly emitterId: string;
  readonly code: string | null;
  readonly groupId: string | null;
}

/** A filter's two halves. Time is not among them: it is a range of record numbers. */
export interface ErrorMatch {
  readonly byHead: (head: ErrorHead) => boolean;
  /** Null: the head decides. */
  readonly byDetail: ((detail: ErrorDetail) => boolean) | null;
}

export function matchOf(filter: ErrorFilter): ErrorMatch {
  const { emitterId, code, groupId, step, text, deploymentId } = filter;
  const hasText = textMatch(filter);
  return {
    byHead: (head) =>
      (emitterId === undefined || head.emitterId === emitterId) &&
      (code === undefined || head.code === code) &&
      (groupId === undefined || head.groupId === groupId),
    byDetail:
      step === undefined && text === undefined && deploymentId === undefined
        ? null
        : ({ error, context }) =>
            (step === undefined || error.namespace === step) &&
            (deploymentId === undefined || context.deployment_id === deploymentId) &&
            hasText(error),
  };
}

/** Returns a function that tells whether the message or a cause of an error contains the text. */
function textMatch({ text, shown = (whole) => whole }: ErrorFilter): (error: ErrorDetail['error']) => boolean {
  if (text === undefined) return () => true;
  const hasText = containing(text);
  return ({ msg, stack = '' }) =>
    hasText(shown(msg)) || (causesIn(stack).length > 0 && causesIn(shown(stack)).some(hasText));
}
