// What the store's files share, built once by open.ts.

import type { Seal } from '../seal.ts';
import type { Batch } from './batch.ts';
import type { DatabaseClock } from './clock.ts';
import type { Held } from './held.ts';
import type { Lane } from './lane.ts';
import type { Node } from './node.ts';
import type { Notices } from './notify.ts';
import type { Pool } from './pool.ts';
import type { Routes } from './routes.ts';
import type { Shares } from './shares.ts';
import type { Sweep } from './sweep.ts';
import type { Turns } from './turn-runs.ts';

export interface Core {
  /** Reads. */
  readonly pool: Pool;
  /** Writes of the log, many at a time. */
  readonly batch: Batch;
  /** Claims by the ticks. */
  readonly claims: Lane;
  readonly turns: Turns;
  readonly shares: Shares;
  readonly held: Held;
  /** Writes of the configuration, and the odd ones. */
  readonly config: Lane;
  /** Writes of data stores: code that writes much holds up no configuration, nor that the code. */
  readonly data: Lane;
  readonly routes: Routes;
  /** Who this process is among those that share the database. */
  readonly node: Node;
  readonly notices: Notices;
  readonly sweep: Sweep;
  readonly clock: DatabaseClock;
  /** Begins every emit id of this store. */
  readonly storeTag: string;
  readonly seal: Seal;
}
