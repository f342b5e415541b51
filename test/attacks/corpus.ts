// The corpus: what code in a step may try, and what comes of it at each level. The table in SECURITY.md is made
// of it (table.ts).

import type { Attack } from './attack.ts';
import { ENGINE } from './engine.ts';
import { FILES } from './files.ts';
import { NETWORK } from './network.ts';
import { PROCESSES } from './processes.ts';
import { SHARED } from './shared.ts';

export const ATTACKS: readonly Attack[] = [...FILES, ...ENGINE, ...PROCESSES, ...NETWORK, ...SHARED];
