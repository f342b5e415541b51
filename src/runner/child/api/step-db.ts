// `$.service.db` of a workflow's steps: each step has its own, and what it sets is written when the step has succeeded.

import type { StepRun } from '../step-run.ts';
import { type ServiceDb, serviceDb } from './service-db.ts';

/**
 * Returns the db of one step, whose names begin with its namespace; undefined when the run was given none. What code
 * still sets when its step is over has no effect.
 */
export function stepDb(step: StepRun): ServiceDb | undefined {
  const { run } = step;
  if (run.message.db === undefined) return undefined;
  const db = serviceDb(run.message.db, run.dbWrites, run.dbBudget);
  const nameOf = (name: unknown): string => `${step.step.namespace}.${String(name)}`;
  return {
    get: (name) => db.get(nameOf(name)),
    set: (name, value) => {
      if (!step.isTooLate('this.db.set')) db.set(nameOf(name), value);
    },
  };
}
