// The process that the crash tests kill, on the database that it is given.

import { writeUntilKilled } from '../../contract/crash.ts';
import { TestClock } from '../../contract/fixtures.ts';
import { openTestStore } from './store.ts';

await writeUntilKilled(await openTestStore({ url: String(process.argv[2]), clock: new TestClock() }));
