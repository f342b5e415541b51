// Gives `@pipedream/platform`, which is part of users' bundles, the step whose code is running.

import { CURRENT_STEP, type CurrentStep, type StepApi } from '../../modules/platform-step.ts';
import { current } from '../current.ts';
import { stepApi } from './step-api.ts';

/** Defines the global function that the module looks up. */
export function provideCurrentStep(): void {
  Object.defineProperty(globalThis, CURRENT_STEP, { value: currentStep });
}

function currentStep(): CurrentStep | undefined {
  const step = current.getStore();
  if (step === undefined) return undefined;
  const { message, results } = step.run;
  return {
    get event() {
      return (results.trigger as { event?: unknown } | undefined)?.event;
    },
    get $() {
      return message.source === null ? (stepApi(step) as Record<string, unknown> & StepApi) : null;
    },
  };
}
