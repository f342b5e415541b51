// What a workflow's newest runs tell, as shown.

import type { Static } from 'typebox';
import { msOf, numberedId, PREFIX } from '../../../domain/ids.ts';
import { HEALTH, type Health } from '../../../domain/run/health.ts';
import { CREATED_AT_MS, id, nullable } from '../../openapi/schema.ts';
import { Type } from '../../schema/type.ts';
import { RUN_STATE } from './runs.ts';

const NO_RUNS = 'Null when no run is judged.';

export const RUN_HEALTH = Type.Object(
  {
    last_run: nullable(
      Type.Object(
        { id: id('r_'), state: RUN_STATE, created_at_ms: CREATED_AT_MS },
        { title: 'LastRun', description: 'The newest, whatever its state.' },
      ),
    ),
    runs: Type.Integer({
      description: `How many runs the rest is about: the newest ${HEALTH.runs} that succeeded or failed and are kept. Cancelled ones are not among them, and of runs that are over no more than ${HEALTH.lookedAt} are looked at.`,
      minimum: 0,
      maximum: HEALTH.runs,
      examples: [HEALTH.runs],
    }),
    since_ms: nullable(
      Type.Integer({
        description: `When the first of them was created, in milliseconds since the Unix epoch. ${NO_RUNS}`,
        examples: [1_782_000_000_123],
      }),
    ),
    failed: Type.Integer({
      description: 'How many of these runs failed.',
      minimum: 0,
      maximum: HEALTH.runs,
      examples: [3],
    }),
    error_ratio: nullable(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description: `The part of \`runs\` that failed, from 0 to 1. ${NO_RUNS}`,
        examples: [0.03],
      }),
    ),
    p95_ms: nullable(
      Type.Integer({
        minimum: 0,
        description: `95 of 100 runs took at most so many milliseconds from their start to their end, waits included. ${NO_RUNS}`,
        examples: [840],
      }),
    ),
  },
  { title: 'WorkflowHealth', description: 'What its newest runs tell.' },
);

export function healthToWire({ lastRun, runs, sinceMs, failed, p95Ms }: Health): Static<typeof RUN_HEALTH> {
  return {
    last_run: lastRun && {
      id: numberedId(PREFIX.run, lastRun.run),
      state: lastRun.state,
      created_at_ms: msOf(lastRun.run),
    },
    runs,
    since_ms: sinceMs,
    failed,
    error_ratio: runs === 0 ? null : failed / runs,
    p95_ms: p95Ms,
  };
}
