// The log: accepting emissions. What is read of it is in log-records.ts.

import { emitId as emitIdOf } from '../../../domain/ids.ts';
import type { Appended, Idempotency, LogStore } from '../../contract/store.ts';
import { type Written, writeEmission } from '../../log/write-emission.ts';
import { parseAnswer } from '../../rows/answers.ts';
import type { Core } from '../core.ts';
import type { Verb } from './batch.ts';
import { pairKey } from './batch-needs.ts';
import type { Pass } from './batch-planner.ts';
import { logReads } from './log-records.ts';
import { PlannedLogWriter } from './log-writer.ts';

export function logVerbs(core: Core): LogStore {
  return {
    ...logReads(core),
    append: (emission, admission, options = {}) => {
      const { idempotency } = options;
      const verb: Verb<Appended> = {
        needs: (needs) => {
          needs.owners.add(emission.ownerId);
          if (idempotency) needs.keys.set(pairKey(idempotency.triggerId, idempotency.key), idempotency);
        },
        plan: (pass) => {
          const log = new PlannedLogWriter(pass, admission);
          const repeated = idempotency && findRepeated(log, idempotency);
          if (repeated) return repeated;
          const written = writeEmission(log, emission, options);
          if (idempotency) rememberKey(pass, idempotency, written);
          return appendedOf(log, written);
        },
      };
      return core.batch.write(verb, emission.emitterId, emission.body.byteLength);
    },
  };
}

export function appendedOf(log: PlannedLogWriter, written: Written): Appended {
  const { emission, firstRun, firstRunRefused } = written;
  const { entry, emitId } = emission;
  return { entry, emitId, claims: log.claims, firstRun, firstRunRefused, repeated: null };
}

function findRepeated(log: PlannedLogWriter, idempotency: Idempotency): Appended | undefined {
  const { pass } = log;
  const key = pairKey(idempotency.triggerId, idempotency.key);
  const first = pass.firsts.get(key);
  if (!first && pass.reads.wonKeys.has(key)) return undefined;
  const row = pass.reads.keys.get(key);
  const entry = first?.entry ?? (row?.entry as number);
  const requestHash = first?.requestHash ?? row?.request_hash;
  return {
    entry,
    emitId: emitIdOf(pass.core.storeTag, entry),
    claims: log.claims,
    firstRun: first ? first.run : (row?.run as number | null),
    firstRunRefused: false,
    repeated: {
      answer: row?.answer ? parseAnswer(row.answer as string) : null,
      isSameRequest: requestHash === idempotency.requestHash,
    },
  };
}

function rememberKey(pass: Pass, idempotency: Idempotency, written: Written): void {
  const { requestHash } = idempotency;
  const kept = { entry: written.emission.entry, run: written.firstRun, requestHash };
  pass.firsts.set(pairKey(idempotency.triggerId, idempotency.key), kept);
  pass.plan.keys.push({ ...idempotency, ...kept });
}
