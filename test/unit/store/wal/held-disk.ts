import { fdatasync, fstatSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as turn } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Store } from '../../../../src/store/contract/store.ts';
import { openSqliteStore } from '../../../../src/store/sqlite/open.ts';
import { strongRandom, TestClock } from '../../../contract/fixtures.ts';
import { Stage } from '../../../contract/stage.ts';
import { createFolder } from '../../../support/folders/folder.ts';
import { until } from '../../../support/wait.ts';

/** Stands in for fdatasync. While it is held, each sync waits to be let go. */
export class Disk {
  isHeld = false;
  /** How many have begun. */
  begun = 0;
  error: Error | null = null;
  /** Whether each was of the WAL that the path names. */
  readonly wasOfWal: boolean[] = [];
  readonly #held: (() => void)[] = [];
  readonly #wal: string;

  constructor(path: string) {
    this.#wal = `${path}-wal`;
  }

  readonly sync = async (descriptor: number): Promise<void> => {
    this.begun++;
    this.wasOfWal.push(fstatSync(descriptor).ino === statSync(this.#wal).ino);
    if (this.isHeld) await new Promise<void>((resolve) => this.#held.push(resolve));
    if (this.error) throw this.error;
    await promisify(fdatasync)(descriptor);
  };

  /** Holds no sync any more. */
  release(): void {
    this.isHeld = false;
    for (const letGo of this.#held.splice(0)) letGo();
  }

  /** Lets one sync that is under way end. */
  async letGo(): Promise<void> {
    (await until('a sync is under way', () => this.#held.shift()))();
  }
}

export async function makePlace() {
  const folder = await createFolder();
  const path = join(folder.path, 'errand.db');
  const clock = new TestClock();
  const disk = new Disk(path);
  const lost: Error[] = [];
  const onLost = (error: Error): void => void lost.push(error);
  const store = await openSqliteStore({ path, clock, random: strongRandom, syncFile: disk.sync, onLost });
  const stage = await Stage.on(store, clock);
  const { workflow, trigger } = await stage.hooked();
  return {
    ...{ folder, path, clock, disk, lost, store, stage, workflow, trigger },
    async [Symbol.asyncDispose]() {
      disk.release();
      await store.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

export type Place = Awaited<ReturnType<typeof makePlace>>;

export async function entriesIn(store: Store, { stage, workflow }: Place): Promise<number[]> {
  const { items } = await store.listRuns({ ownerId: stage.owner.id, runnableId: workflow.id }, { limit: 100 });
  return items.map(({ entry }) => entry);
}

export interface Watched<T> {
  readonly promise: Promise<T>;
  isOver: boolean;
}

export function watch<T>(promise: Promise<T>): Watched<T> {
  const watched = { promise, isOver: false };
  const over = (): void => {
    watched.isOver = true;
  };
  promise.then(over, over);
  return watched;
}

export const append = ({ stage, trigger }: Place) => watch(stage.append(trigger.id));

/** An emission of its own is written without waiting for a sync: seen by another connection. */
export async function committed({ path, trigger }: Place, count: number): Promise<void> {
  const db = new DatabaseSync(path, { readOnly: true });
  const read = db.prepare('SELECT count(*) AS n FROM emissions WHERE emitter_id = ?');
  await until(`${count} are committed`, () => (read.get(trigger.id)?.n as number) >= count);
  db.close();
}

export async function turns(): Promise<void> {
  for (let n = 0; n < 20; n++) await turn();
}
