// The log: accepting emissions.

import type { Appended, LogStore } from '../../contract/store.ts';
import { append } from '../../log/append.ts';
import type { LogCore, Verb } from './batch.ts';
import { pairKey } from './batch-needs.ts';
import { PlannedLogWriter } from './log-writer.ts';

export function logVerbs(core: LogCore): Pick<LogStore, 'append'> {
  return {
    append: (emission, admission, options) => {
      const idempotency = options?.idempotency;
      const verb: Verb<Appended> = {
        needs: (needs) => {
          needs.owners.add(emission.ownerId);
          if (idempotency) needs.keys.set(pairKey(idempotency.triggerId, idempotency.key), idempotency);
        },
        plan: (planner) => append(new PlannedLogWriter(planner, admission), emission, options),
      };
      return core.batch.write(verb, emission.emitterId, emission.body.byteLength);
    },
  };
}
