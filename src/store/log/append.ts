// Accepts emissions, once for each idempotency key.

import type { NewEmission } from '../../domain/emission.ts';
import { ERRORS } from '../../domain/emission.ts';
import type { Replay } from '../../domain/errors/replay.ts';
import { emitId } from '../../domain/ids.ts';
import { isOver } from '../../domain/run/run.ts';
import { FURTHER_ERRORS } from '../check/checks.ts';
import type { Appended, AppendOptions } from '../contract/store.ts';
import type { LogWriter } from './port.ts';
import { type Written, writeEmission } from './write-emission.ts';

const NOTHING: AppendOptions = {};

export function append(log: LogWriter, made: NewEmission, options: AppendOptions = NOTHING): Appended {
  const { idempotency, unlessReplayed } = options;
  if (unlessReplayed !== undefined) {
    const lastReplay = log.lastReplayOf(made.ownerId, unlessReplayed);
    const { entry } = unlessReplayed;
    const nothing = { firstRun: null, firstRunRefused: false, repeated: null };
    if (lastReplay && (!unlessReplayed.byOperation || isOperations(lastReplay)))
      return { entry, emitId: emitId(log.storeTag, entry), claims: log.claims, ...nothing, lastReplay };
  }
  if (idempotency === undefined) return appendedOf(log, write(log, made, options));
  const first = log.findKey(idempotency);
  if (first) {
    const { entry, run: firstRun, answer, requestHash } = first;
    const repeated = { answer, isSameRequest: requestHash === idempotency.requestHash };
    return {
      entry,
      emitId: emitId(log.storeTag, entry),
      claims: log.claims,
      firstRun,
      firstRunRefused: false,
      repeated,
    };
  }
  const written = write(log, made, options);
  log.keepKey(idempotency, { entry: written.emission.entry, run: written.firstRun });
  return appendedOf(log, written);
}

/** Returns whether an operation runs an event again at this moment, and follows that run. */
function isOperations({ operationId, state }: Replay): boolean {
  return operationId !== null && !isOver(state);
}

function write(log: LogWriter, made: NewEmission, options: AppendOptions): Written {
  // Neither a run nor a delivery has failed: a workflow file could not be deployed.
  if (made.name === ERRORS) log.count(made.ownerId, FURTHER_ERRORS, 1);
  return writeEmission(log, made, options);
}

export function appendedOf(log: LogWriter, { emission, firstRun, firstRunRefused }: Written): Appended {
  const { entry, emitId } = emission;
  return { entry, emitId, claims: log.claims, firstRun, firstRunRefused, repeated: null };
}
