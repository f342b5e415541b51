// A process that makes a store, and says when its first event was answered. Argument: the path of the store.

import { writeSync } from 'node:fs';
import { openSqliteStore } from '../../../../src/store/sqlite/open.ts';
import { strongRandom, TestClock } from '../../../contract/fixtures.ts';
import { Stage } from '../../../contract/stage.ts';

const clock = new TestClock();
const store = await openSqliteStore({ path: process.argv[2] ?? '', clock, random: strongRandom });
const stage = await Stage.on(store, clock);
const { trigger } = await stage.hooked();
const { entry } = await stage.append(trigger.id);
writeSync(1, `answered ${entry}\n`);
await store.close();
