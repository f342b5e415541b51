// The corpus: what code in a step may try, and what comes of it at each level. SECURITY.md has the same table.

import { ENGINE } from './escapes-engine.ts';
import { FILES } from './escapes-files.ts';
import { NETWORK } from './escapes-network.ts';
import { PROCESSES } from './escapes-processes.ts';
import { SHARED } from './escapes-shared.ts';
import type { Kit } from './kit.ts';
import type { World } from './world.ts';

export type Verdict = 'stopped' | 'possible';

export interface Escape {
  /** The row in SECURITY.md. */
  readonly name: string;
  readonly process: Verdict;
  readonly jail: Verdict;
  /** What stops it, or bounds what it can do. */
  readonly by: string;
  /**
   * Body of an async step: `w` is the world, and the names of Node's modules are modules. It came through when it returns
   * true; it did not when it throws or returns anything else. A function judges from outside, by what came of it.
   */
  readonly attempt: string | ((kit: Kit, world: World) => Promise<boolean>);
  /** False: it would harm this machine, or something else than the levels stops it. */
  readonly unhindered?: false;
}

export const ESCAPES: readonly Escape[] = [...FILES, ...ENGINE, ...PROCESSES, ...NETWORK, ...SHARED];
