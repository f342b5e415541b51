// What becomes of a source's file that is sent while its source is not done.

import assert from 'node:assert/strict';
import test from 'node:test';
import { Refusal } from '../../../src/domain/refusal.ts';
import type { WholeSource } from '../../../src/domain/requests.ts';
import { DEFAULT_SETTINGS, type Source } from '../../../src/domain/resource.ts';
import { createSourceFiles } from '../../../src/engine/sources/source-files.ts';

const FILE = { path: 'a.ts', source: 'export default {}', bundle: '', sourceMap: '' };

/** Sends the file twice; the second time its source stands as told. */
async function sendAgain(inHooks: boolean, update: () => Promise<WholeSource>): Promise<[string, string[]]> {
  const asked: string[] = [];
  let standing: Source | undefined;
  const whole = async () => ({ source: standing as Source, triggers: [] });
  const { deploySourceFile } = createSourceFiles({
    store: { getSource: async () => standing },
    runner: {} as never,
    sources: {
      getSource: whole,
      createSource: async (_, { ready }) => {
        asked.push('create');
        const settings = { ...DEFAULT_SETTINGS, inHooks };
        standing = { id: ready?.id, name: 'a', componentCode: ready?.code, settings } as Source;
        return whole();
      },
      updateSource: () => {
        asked.push('update');
        return update();
      },
    },
  });
  await deploySourceFile('u_1', FILE as never);
  const { result } = await deploySourceFile('u_1', FILE as never);
  return [result, asked];
}

const gone = () => Promise.reject(new Refusal('not_found', 'there is no source'));

test('a file of a folder is loaded as its owner', async () => {
  const owners: string[] = [];
  const { deploySourceFile } = createSourceFiles({
    store: { getSource: async () => undefined },
    runner: {
      describe: async ({ ownerId }) => {
        owners.push(ownerId);
        return { ok: true, shape: { type: 'app', key: null } as never };
      },
    },
    sources: {} as never,
  });
  const { result } = await deploySourceFile('u_1', { ...FILE, fromFolder: true } as never);
  assert.deepEqual([result, owners], ['skipped', ['u_1']]);
});

test('a file that stands as it is changes nothing', async () => {
  assert.deepEqual(await sendAgain(false, gone), ['same', ['create']]);
});

test('one whose source is taken back is made again', async () => {
  assert.deepEqual(await sendAgain(true, gone), ['made', ['create', 'update', 'create']]);
});

test('what its source cannot be changed for is told', async () => {
  const busy = () => Promise.reject(new Refusal('conflict', 'busy'));
  await assert.rejects(sendAgain(true, busy), { code: 'conflict' });
});
