// Orders that take many steps: sending again what failed. Same promises as store.ts.

import type { NewOperation, Operation, OperationOrder } from '../../domain/operation.ts';
import type { Page, PageQuery } from './records.ts';

export interface OperationStore {
  /** False when the webhook is gone. */
  createOperation(operation: NewOperation): Promise<boolean>;
  getOperation(ownerId: string, id: string): Promise<Operation | undefined>;
  listOperations(of: { ownerId: string; webhookId?: string }, page: PageQuery): Promise<Page<Operation>>;
  /** `refused`: it is over. The same order twice is no mistake. Undefined: no such operation. */
  orderOperation(
    ownerId: string,
    id: string,
    order: OperationOrder,
  ): Promise<{ readonly operation: Operation; readonly refused: boolean } | undefined>;
  /**
   * One step of one running operation, in turn over all of them: counts, or makes due, at most LIMITS.operationStep
   * deliveries, and its progress with them in one transaction. `isResent`: deliveries are due. `isMore`: there may be
   * another step to take at once; else all of them wait for deliveries under way, for a webhook to be enabled, or are over.
   */
  stepOperation(): Promise<{ readonly isResent: boolean; readonly isMore: boolean }>;
}
