// The log: accepting emissions.

import type { LogStore } from '../../contract/store.ts';
import { append } from '../../log/append.ts';
import type { Core } from '../core.ts';
import { SqliteLogWriter } from './log-writer.ts';

export function logVerbs(core: Core): Pick<LogStore, 'append'> {
  return {
    append: (emission, admission, options) =>
      core.batch.write(
        (tx) => append(new SqliteLogWriter(core, tx, admission), emission, options),
        emission.emitterId,
        emission.body.byteLength,
      ),
  };
}
