// Errors that other programs report: each is an error of a workflow (domain/errors/report.ts).

import { failureOfReport, type ReportedBy } from '../../domain/failure.ts';
import { PREFIX } from '../../domain/ids.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { ReportInput } from '../../domain/requests.ts';
import type { Workflow } from '../../domain/resource.ts';
import type { Appended } from '../../store/contract/store.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { findService, type ServiceDeps } from '../resources/services.ts';
import type { Emit } from './emit.ts';

export interface ReportDeps extends ServiceDeps {
  readonly emit: Emit;
  readonly metrics: Pick<Metrics, 'errors'>;
}

export function createReports(deps: ReportDeps) {
  const { store, clock, ids, emit, metrics } = deps;

  /** Accepts an error, which is durable when this resolves. Throws `Refusal` when there is no such workflow, or it is not active. */
  async function reportError(ownerId: string, input: ReportInput): Promise<Appended & { workflowId: string }> {
    const { to, report, idempotency, originId, sourceType, verified, lineage } = input;
    const workflow = await workflowOf(ownerId, to);
    if (!workflow.active) {
      throw new Refusal('conflict', `workflow ${workflow.id} is not active, and takes no errors until it is`);
    }
    const eventId = ids.next(PREFIX.reportedEvent);
    const by: ReportedBy = { workflow, originId, sourceType, verified, lineage, eventId, nowMs: clock.nowMs() };
    const once = idempotency === undefined ? {} : { idempotency: { ...idempotency, triggerId: workflow.id } };
    const { appended } = await emit(failureOfReport(report, by), once);
    if (appended.repeated === null) metrics.errors.inc({ code: 'user' });
    return { ...appended, workflowId: workflow.id };
  }

  async function workflowOf(ownerId: string, to: ReportInput['to']): Promise<Workflow> {
    if ('service' in to) return findService(deps, { ownerId, ...to });
    const workflow = await store.getWorkflow(ownerId, to.workflowId);
    if (!workflow) throw new Refusal('not_found', `there is no workflow ${to.workflowId}`);
    return workflow;
  }

  return { reportError };
}
