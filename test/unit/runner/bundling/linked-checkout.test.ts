// The process that bundles starts wherever Node finds its packages: also behind links.

import assert from 'node:assert/strict';
import { chmod, cp, mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Bundling } from '../../../../src/runner/bundling/bundling.ts';
import { noJail } from '../isolation/jail-kit.ts';

const SOURCES = fileURLToPath(new URL('../../../../src/', import.meta.url));
const { resolve } = createRequire(import.meta.url);
const INSTALLED = dirname(dirname(resolve('esbuild/package.json')));
const jailObstacle = await noJail();
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** How the packages of a checkout are linked. */
const LINKED: Readonly<Record<string, (modules: string) => Promise<void>>> = {
  'whose node_modules is a link': (modules) => symlink(INSTALLED, modules),
  'whose packages are links': async (modules) => {
    await mkdir(modules);
    for (const name of ['esbuild', 'semver']) await symlink(join(INSTALLED, name), join(modules, name));
  },
  'whose node_modules is a link to a link': async (modules) => {
    await symlink(INSTALLED, join(dirname(modules), 'other'));
    await symlink('other', modules);
  },
};

for (const [what, link] of Object.entries(LINKED)) {
  for (const level of ['process', 'jail'] as const) {
    test(`it starts in a checkout ${what}, at level ${level}`, {
      skip: level === 'jail' && jailObstacle,
    }, async (t) => {
      const dir = await realpath(await mkdtemp(join(tmpdir(), 'errand-checkout-')));
      t.after(() => rm(dir, { recursive: true, force: true }));
      await chmod(dir, 0o755);
      await cp(SOURCES, join(dir, 'src'), { recursive: true });
      await cp(join(SOURCES, '../package.json'), join(dir, 'package.json'));
      await link(join(dir, 'node_modules'));
      const path = join(dir, 'src/runner/bundling/bundling.ts');
      const loaded = (await import(path)) as { readonly Bundling: typeof Bundling };
      const bundling = new loaded.Bundling({ level, user: null, roots: [], log: silent });
      t.after(() => bundling.stop());
      const bundled = await bundling.bundleStep({ namespace: 'a', code: 'export default () => 1;' }, null);
      assert.ok(bundled.ok, JSON.stringify(bundled));
    });
  }
}
