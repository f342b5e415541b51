// Imports the steps' bundles, in order.

import { pathToFileURL } from 'node:url';
import { NO_COMPONENT } from '../component-api.ts';
import type { LoadedStep } from './active-run.ts';
import type { InitMessage, StepFile } from './protocol.ts';

/** A step that could not be loaded, and the reason. */
export class LoadError extends Error {
  readonly step: number;
  readonly thrown: unknown;

  constructor(step: number, thrown: unknown) {
    super('a step could not be loaded');
    this.step = step;
    this.thrown = thrown;
  }
}

interface LoadOptions {
  /** Another query makes other modules of the same files. */
  readonly query?: string;
  /** Called before each step is imported. */
  readonly onNext?: (index: number) => void;
}

/** Imports the steps. Rejects with LoadError. */
export async function loadSteps(
  files: readonly StepFile[],
  mode: InitMessage['mode'],
  { query = '', onNext }: LoadOptions = {},
): Promise<LoadedStep[]> {
  const steps: LoadedStep[] = [];
  for (const [index, { id, namespace, file }] of files.entries()) {
    onNext?.(index);
    try {
      const module = (await import(pathToFileURL(file).href + query)) as { default?: unknown };
      const component = defaultOf(module.default);
      checkComponent(component, mode);
      steps.push({ id, namespace, component });
    } catch (thrown) {
      throw new LoadError(index, thrown);
    }
  }
  return steps;
}

/** Returns the default export: CommonJS made from an ES module keeps it one level down. */
function defaultOf(exported: unknown): unknown {
  if (typeof exported !== 'object' || exported === null) return exported;
  const { __esModule, default: inner } = exported as { __esModule?: unknown; default?: unknown };
  return __esModule === true && inner !== undefined ? inner : exported;
}

function checkComponent(component: unknown, mode: InitMessage['mode']): void {
  const isFunction = typeof component === 'function';
  if (!isFunction && (typeof component !== 'object' || component === null)) {
    throw new TypeError(`${NO_COMPONENT}: ${typeof component}`);
  }
  if (isFunction && mode === 'source')
    throw new TypeError('The default export of a source is a component, not a function');
  // A source without `run` emits its events unchanged.
  if (!isFunction && mode === 'workflow' && typeof (component as { run?: unknown }).run !== 'function') {
    throw new TypeError('The default export is a component without run()');
  }
}
