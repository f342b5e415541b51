// Tracks which step's code is running: output, rejections and exits are attributed to that step's run.

import { AsyncLocalStorage } from 'node:async_hooks';
import type { StepRun } from './step-run.ts';

export const current = new AsyncLocalStorage<StepRun>();
