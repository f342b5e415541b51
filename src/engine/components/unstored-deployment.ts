import { PREFIX } from '../../domain/ids.ts';
import type { Deployment, Step } from '../../domain/resource.ts';

interface LoadedCode extends Pick<Step, 'namespace' | 'bundle' | 'sourceMap'> {
  readonly ownerId: string;
  /** A source's when not given. */
  readonly runnableId?: string;
  /** Empty when not given: what the bundle was made of is not needed to load it. */
  readonly code?: string;
}

/** Returns a deployment of code that is loaded only to be described: it is stored nowhere, and its ids are of no records. */
export function unstoredDeployment({
  ownerId,
  runnableId = PREFIX.source,
  namespace,
  code = '',
  bundle,
  sourceMap,
}: LoadedCode): Deployment {
  const steps = [{ id: PREFIX.step, namespace, code, bundle, sourceMap }];
  return { id: PREFIX.deployment, ownerId, runnableId, steps, createdAtMs: 0 };
}
