// Which errors are meant, of all errors of an owner: for the search, replays, streams and exports.

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
  /** A part of the message, as it is written, in upper or lower case. */
  readonly text?: string;
  /** What is shown of a message: the text is looked for in that. */
  readonly shown?: (message: string) => string;
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

export function matchOf({ emitterId, code, groupId, step, text, shown, deploymentId }: ErrorFilter): ErrorMatch {
  const hasText = text === undefined ? () => true : containing(text);
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
            hasText(text === undefined || shown === undefined ? error.msg : shown(error.msg)),
  };
}
