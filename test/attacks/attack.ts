// One attack, as the corpus lists it.

import type { Kit } from '../unit/runner/kit.ts';
import type { World } from './world.ts';

export type Verdict = 'stopped' | 'possible';

export interface Attack {
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
