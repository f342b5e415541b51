// What is deployed is warmed: a process of it is started in the background, as far as there is room (runner/pool/warm-ups.ts).
// Only where runs are executed; another node starts its own with the first run that it takes.

import type { Deployment, Runnable } from '../../domain/resource.ts';
import type { Runner } from '../../runner/runner.ts';

export type Warm = (runnable: Pick<Runnable, 'active' | 'settings'>, deployment: Deployment) => void;

export function warmer(runner: Pick<Runner, 'warm'>, { runsHere }: { runsHere: boolean }): Warm {
  return ({ active, settings }, deployment) => {
    if (active && runsHere) runner.warm(deployment, settings.memoryMb, settings.env);
  };
}
