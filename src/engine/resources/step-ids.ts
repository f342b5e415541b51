import { createHash } from 'node:crypto';
import { PREFIX, resourceId } from '../../domain/ids.ts';

const TIME_BYTES = 5;

/**
 * A step's id stays with its namespace, also when the step was taken out and came back, or an older deployment did: it is
 * derived from both. (Rejected: to look for it in older deployments; they are removed.)
 */
export function stepIdOf(runnableId: string, namespace: string): string {
  const hash = createHash('sha256').update(`${runnableId} ${namespace}`).digest();
  return resourceId(PREFIX.step, hash.readUIntBE(0, TIME_BYTES), hash.subarray(TIME_BYTES));
}
