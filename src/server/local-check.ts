// Checks components on this machine for the command line, without a server. Files in the folder of components are checked
// as a server with the same settings does. Others are the caller's own: they may import what Node finds from their folder.
//
// A component is described by loading it, in a process as those of a server at the level `process`.

import { chmod, mkdtemp, realpath, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { CliError, EXIT } from '../cli/shell/exit.ts';
import { PREFIX } from '../domain/ids.ts';
import type { ComponentChecks } from '../domain/requests.ts';
import { createComponentChecks } from '../engine/components/check.ts';
import { createComponents } from '../engine/components/components.ts';
import type { Clock, Log } from '../ports.ts';
import { createBundler } from '../runner/bundling/bundler.ts';
import { NONE_OUTSIDE } from '../runner/bundling/outside.ts';
import { createRunner } from '../runner/pool/pool.ts';
import { isolationOf } from './code-isolation.ts';
import { passableTmp } from './code-user.ts';
import type { Config } from './config.ts';

const OWNER = `${PREFIX.owner}local`;

type CheckPage = (after: string | null) => Promise<ComponentChecks>;

/** Calls back with what checks the file, or all files of the folder. Throws `CliError` when nothing is there. */
export async function checkLocally(
  config: Config,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  of: { readonly path: string; readonly act: (check: CheckPage) => Promise<void> },
): Promise<void> {
  const { dir, path, isServers } = await placeOf(config, of.path);
  const packagesDir = config.packagesDir ?? dir;
  const { user, packageFolders = () => NONE_OUTSIDE } = isolationOf(config);
  const isolation = { level: 'process', network: 'full', user, packageFolders } as const;
  const tmpDir = await mkdtemp(join(passableTmp(), 'errand-check-'));
  await chmod(tmpDir, 0o711);
  const runner = createRunner({ log, clock, tmpDir, isolation });
  try {
    const bundler = createBundler({ packagesDir, outside: isServers ? packageFolders : () => NONE_OUTSIDE });
    const components = createComponents({ bundler, componentsDir: dir, packagesDir, isTrusted: !isServers, runner });
    const { checkComponents } = createComponentChecks({ components, runner });
    await of.act((after) => checkComponents(OWNER, { componentPath: path, ...(after === null ? {} : { after }) }));
  } finally {
    await runner.stop(0);
    await rm(tmpDir, { recursive: true, force: true });
  }
}

/**
 * Returns where a file is for the check. A path in the folder of components keeps its place there: files of other apps are
 * named by that folder.
 */
async function placeOf(
  { componentsDir }: Pick<Config, 'componentsDir'>,
  given: string,
): Promise<{ dir: string; path: string; isServers: boolean }> {
  const real = await realpath(resolve(given)).catch(() => null);
  if (real === null) throw new CliError(`there is no file or folder ${resolve(given)}`, EXIT.notFound);
  const all = componentsDir === null ? null : await realpath(componentsDir).catch(() => null);
  if (all !== null && `${real}${sep}`.startsWith(all + sep)) {
    return { dir: all, path: relative(all, real).replaceAll(sep, '/') || '.', isServers: true };
  }
  const isFolder = (await stat(real)).isDirectory();
  const place = isFolder ? { dir: real, path: '.' } : { dir: dirname(real), path: basename(real) };
  return { ...place, isServers: false };
}
