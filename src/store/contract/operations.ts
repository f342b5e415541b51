// Operations that take many steps: resending a webhook's deliveries. Same promises as store.ts.

import type { NewOperation, Operation, OperationOrder } from '../../domain/operation.ts';
import type { Page, PageQuery } from './records.ts';

export interface OperationStore {
  /** Returns false when the webhook is gone. */
  createOperation(operation: NewOperation): Promise<boolean>;
  getOperation(ownerId: string, id: string): Promise<Operation | undefined>;
  listOperations(of: { ownerId: string; webhookId?: string }, page: PageQuery): Promise<Page<Operation>>;
  /** Pauses, resumes or cancels. `refused`: the operation is over. Repeating an order is no error. Undefined: no such operation. */
  orderOperation(
    ownerId: string,
    id: string,
    order: OperationOrder,
  ): Promise<{ readonly operation: Operation; readonly refused: boolean } | undefined>;
  /**
   * Takes one step of one running operation, round robin over all of them: counts, or makes due, at most LIMITS.operationStep
   * deliveries, and writes its progress in the same transaction. `isResent`: deliveries are due. `isMore`: another step may
   * follow at once; else all operations wait for deliveries under way or for a webhook to be enabled, or are over.
   */
  stepOperation(): Promise<{ readonly isResent: boolean; readonly isMore: boolean }>;
}
