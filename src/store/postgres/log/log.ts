// The log: accepting emissions. What is read of it is in log-records.ts.

import { emitId as emitIdOf } from '../../../domain/ids.ts';
import type { Appended, Idempotency, LogStore } from '../../contract/store.ts';
import type { Core } from '../core.ts';
import type { Verb } from './batch.ts';
import { pairKey } from './batch-needs.ts';
import { claimsOf, type Hands, type Pass } from './batch-planner.ts';
import { logReads, parseAnswer } from './log-records.ts';
import { type Written, writeEmission } from './write.ts';

export function logVerbs(core: Core): LogStore {
  return {
    ...logReads(core),
    append: (emission, admission, options = {}) => {
      const { idempotency, isAwaited = false, goingOn } = options;
      const verb: Verb<Appended> = {
        needs: (needs) => {
          needs.owners.add(emission.ownerId);
          if (idempotency) needs.keys.set(pairKey(idempotency.triggerId, idempotency.key), idempotency);
        },
        plan: (pass) => {
          const hands = pass.handsOf(admission);
          const repeated = idempotency && findRepeated(pass, hands, idempotency);
          if (repeated) return repeated;
          const written = writeEmission(pass, hands, { made: emission, isAwaited, goingOn });
          if (idempotency) rememberKey(pass, idempotency, written);
          return appendedOf(hands, written);
        },
      };
      return core.batch.write(verb, emission.emitterId, emission.body.byteLength);
    },
  };
}

export function appendedOf(hands: Hands, written: Written): Appended {
  const { emission, firstRun, firstRunRefused } = written;
  const { entry, emitId } = emission;
  return { entry, emitId, claims: claimsOf(hands), firstRun, firstRunRefused, repeated: null };
}

function findRepeated(pass: Pass, hands: Hands, idempotency: Idempotency): Appended | undefined {
  const key = pairKey(idempotency.triggerId, idempotency.key);
  const first = pass.firsts.get(key);
  if (!first && pass.reads.wonKeys.has(key)) return undefined;
  const row = pass.reads.keys.get(key);
  const entry = first?.entry ?? (row?.entry as number);
  const requestHash = first ? first.requestHash : ((row?.request_hash ?? null) as string | null);
  return {
    entry,
    emitId: emitIdOf(pass.core.storeTag, entry),
    claims: claimsOf(hands),
    firstRun: first ? first.run : (row?.run as number | null),
    firstRunRefused: false,
    repeated: {
      answer: row?.answer ? parseAnswer(row.answer as string) : null,
      isSameRequest: requestHash === null || requestHash === idempotency.requestHash,
    },
  };
}

function rememberKey(pass: Pass, idempotency: Idempotency, written: Written): void {
  const { requestHash } = idempotency;
  const kept = { entry: written.emission.entry, run: written.firstRun, requestHash };
  pass.firsts.set(pairKey(idempotency.triggerId, idempotency.key), kept);
  pass.plan.keys.push({ ...idempotency, ...kept });
}
