// What the files of the store share, built once by open.ts.

import type { Clock } from '../../ports.ts';
import type { Seal } from '../seal/seal.ts';
import type { Connection } from './database.ts';
import type { ListenerQueues } from './deliveries/listener-queues.ts';
import type { ActiveOwners } from './log/active-owners.ts';
import type { Batch } from './log/batch.ts';
import type { Routes } from './log/routes.ts';
import type { Throttles } from './log/throttles.ts';
import type { Numbers, OpenRuns } from './log/transaction.ts';
import type { RowRoom } from './runs/row-room.ts';

export interface Core {
  readonly writer: Connection;
  readonly reader: Connection;
  readonly batch: Batch;
  readonly owners: ActiveOwners;
  readonly routes: Routes;
  readonly numbers: Numbers;
  readonly openRuns: OpenRuns;
  readonly queues: ListenerQueues;
  readonly throttles: Throttles;
  readonly rowRoom: RowRoom;
  readonly seal: Seal;
  readonly clock: Clock;
  /** Begins every emit id of this store. */
  readonly storeTag: string;
  /** Grows with every opening; a lease of a lower one belongs to a process that is gone. */
  readonly boot: number;
  /** Called when a counter was found wrong. */
  readonly suspectCounters: () => void;
}
