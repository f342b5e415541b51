// Which step's code is running: what is printed, rejected or ended is put down to that step's run.

import { AsyncLocalStorage } from 'node:async_hooks';
import type { StepRun } from './step-run.ts';

export const current = new AsyncLocalStorage<StepRun>();
