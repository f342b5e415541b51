// A rejection that a run's code has left behind as it returned. Node tells of it when all that the code does at once is done,
// and by then the run has succeeded; but its end is not written yet. So the run fails after all, as it does for a rejection that
// a step leaves to the next one. What comes later, behind a timer or an answer, cannot undo an end: the server logs it.

import type { Capture, Thrown } from './capture.ts';
import { type EndMessage, STEP_STATE, type StepTuple } from './protocol.ts';

interface Posted {
  readonly capture: Capture;
  readonly replace: (message: EndMessage, other: EndMessage) => boolean;
  readonly failed: (message: EndMessage) => void;
}

/** Posts the failure in the place of the end of a run that has succeeded; false: that is written, and stands. */
export function failInstead(succeeded: EndMessage, program: Posted, thrown: Thrown): boolean {
  const { step, ...end } = succeeded;
  const last: StepTuple | undefined = step && [step[0], STEP_STATE.failed, step[2], step[3], null, step[5]];
  const fault = program.capture.fault(thrown);
  const failed: EndMessage = { ...end, kind: 'failed', fault, step: last, exitReason: undefined, dbWrites: undefined };
  if (!program.replace(succeeded, failed)) return false;
  program.failed(failed);
  return true;
}
