// The log: accepting emissions. What is read of it is in log-records.ts.

import type { Appended, LogStore } from '../../contract/store.ts';
import { append } from '../../log/append.ts';
import type { LogCore, Verb } from './batch.ts';
import { pairKey } from './batch-needs.ts';
import { logReads } from './log-records.ts';
import { PlannedLogWriter } from './log-writer.ts';

export function logVerbs(core: LogCore): LogStore {
  return {
    ...logReads(core),
    append: (emission, admission, options) => {
      const idempotency = options?.idempotency;
      const verb: Verb<Appended> = {
        needs: (needs) => {
          needs.owners.add(emission.ownerId);
          if (idempotency) needs.keys.set(pairKey(idempotency.triggerId, idempotency.key), idempotency);
        },
        plan: (pass) => append(new PlannedLogWriter(pass, admission), emission, options),
      };
      return core.batch.write(verb, emission.emitterId, emission.body.byteLength);
    },
  };
}
