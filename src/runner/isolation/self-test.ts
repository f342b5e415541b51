// Starts a process that does nothing, once before all others, to check that code can run with these settings.

import { LIMITS, SECOND_MS } from '../../domain/limits.ts';
import { ChildLink, type Death } from '../process/child-link.ts';
import type { Isolation, IsolationSettings } from './isolation.ts';
import type { Workdirs } from './workdir.ts';

/**
 * A process starts in 50 ms; on a machine that is overloaded, or paused by its host, it may take a thousand times as
 * long.
 */
const LATE_MS = 60_000;
const SAYS_WHY = /^bwrap: |^\w*Error: /;
const NOTHING = {
  id: 'd_trial',
  ownerId: 'u_trial',
  runnableId: 'p_trial',
  steps: [{ id: 'c_trial', namespace: 'trial', code: '', bundle: 'export default () => {}', sourceMap: '{}' }],
  createdAtMs: 0,
};

interface SelfTestOptions {
  readonly workdirs: Workdirs;
  readonly isolation: Isolation;
  readonly settings: IsolationSettings;
}

/** Returns null when the process started and answered, otherwise the reason and what to do about it. */
export function testIsolation({ workdirs, isolation, settings }: SelfTestOptions): Promise<string | null> {
  return new Promise((resolve) => {
    let [spoke, isLate] = [false, false];
    const options = {
      workdirs,
      isolation,
      deployment: NOTHING,
      memoryMb: LIMITS.memoryMb,
      env: {},
      mode: 'describe',
    } as const;
    const late = setTimeout(() => {
      isLate = true;
      link.kill();
    }, LATE_MS);
    const link = new ChildLink(options, {
      onMessage: ({ t }) => {
        spoke ||= t === 'shape';
        link.kill();
      },
      onDeath: (death, removed) => {
        clearTimeout(late);
        const known = isLate ? { ...death, detail: `it did not start within ${LATE_MS / SECOND_MS} seconds` } : death;
        const reason = spoke ? null : reasonOf(known, settings);
        void removed.then(() => resolve(reason));
      },
    });
  });
}

/** Returns what is wrong and what would help, for the operator. */
export function reasonOf({ detail, code, signal }: Death, { level, user }: IsolationSettings): string {
  const lines = detail.trim().split('\n');
  const said =
    lines.find((line) => SAYS_WHY.test(line)) || lines.at(-1) || `it ended (${signal ?? `exit code ${code}`})`;
  const asWho = user === null ? '' : ` as ${user.uid}:${user.gid}`;
  if (level === 'process') return `the server cannot run code${asWho}: ${said}`;
  if (/spawn bwrap ENOENT|bwrap: not found/.test(detail))
    return 'the program bwrap is missing: install the package bubblewrap (0.8 or newer)';
  if (/unknown option/i.test(detail)) return `bwrap is older than 0.8 (${said}): update the package bubblewrap`;
  if (/namespace|operation not permitted|permission denied|uid map|loopback/i.test(detail)) {
    return `the system does not let bwrap (of the package bubblewrap) make a jail (${said}): docs/isolation.md says what it needs`;
  }
  return `bwrap (of the package bubblewrap) could not start Node: ${said}`;
}
