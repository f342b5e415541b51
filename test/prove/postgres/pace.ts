// How fast events come while something happens: enough that work is always under way, little enough that three nodes, their
// database and the load itself share two cores.

import type { Pace } from '../load.ts';

export const STEADY: Pace = { senders: 12, pauseMs: 30 };
