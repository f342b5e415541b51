// The process that the crash tests kill, on the database that it is given.

import { TestClock } from '../../contract/fixtures.ts';
import { writeUntilKilled } from '../../contract/log/crash.ts';
import { openTestStore } from './store.ts';

await writeUntilKilled(await openTestStore({ url: String(process.argv[2]), clock: new TestClock() }));
