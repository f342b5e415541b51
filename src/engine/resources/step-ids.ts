import { createHash } from 'node:crypto';
import { PREFIX, resourceId } from '../../domain/ids.ts';

const TIME_BYTES = 5;

/**
 * Derives a step's id from runnable and namespace: the step keeps it when it was removed and added again, or when an older
 * deployment is active again. (Rejected: looking in older deployments; they are deleted.)
 */
export function stepIdOf(runnableId: string, namespace: string): string {
  const hash = createHash('sha256').update(`${runnableId} ${namespace}`).digest();
  return resourceId(PREFIX.step, hash.readUIntBE(0, TIME_BYTES), hash.subarray(TIME_BYTES));
}
