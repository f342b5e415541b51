import { createHash } from 'node:crypto';
import type { ApiKey } from '../../../domain/keys.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { Refusal } from '../../../domain/refusal.ts';
import type { ReportInput } from '../../../domain/requests.ts';
import { auditNow } from '../../access/audit.ts';
import type { AuditLog } from '../../access/audit-log.ts';
import type { App } from '../../app-type.ts';
import type { HttpDeps } from '../../deps.ts';
import { checkIdempotencyKey } from '../../ingress/idempotency.ts';
import { dataOf, operation } from '../../openapi/operation.ts';
import { text } from '../../openapi/schema.ts';
import { Type } from '../../schema/type.ts';
import { REPORT, REPORTED, reportedToWire, reportOf } from '../../wire/log/reports.ts';

export function addReportRoutes(app: App, deps: HttpDeps, log: AuditLog): void {
  const { actions, maxBodyBytes } = deps;
  const schema = operation({
    id: 'reportError',
    tag: 'errors',
    access: 'ingest',
    // Errors come by the thousand, and are in the log of events themselves.
    audits: 'refusals',
    summary: 'Report an error of another program',
    description:
      'The error of a program that runs elsewhere becomes an error of one of your workflows: it is listed, grouped, searched, sent to the global error workflow and forwarded like all others. `workflow_id` names the workflow; `service` names a program instead, whose workflow is created with its first error. A key that was created for a workflow can only report errors of that workflow, and needs neither. The answer means that the error is on disk.',
    takesIdempotencyKey: true,
    body: {
      workflow_id: Type.Optional(
        text({ description: 'The workflow whose error it is.', minLength: 1, example: 'p_0Vj3aBc9dEfGhIjK' }),
      ),
      service: Type.Optional(
        text({
          description: 'Instead of `workflow_id`: the program, by a name of your own.',
          minLength: 1,
          maxLength: LIMITS.nameChars,
          example: 'checkout',
        }),
      ),
      ...REPORT,
    },
    example: {
      workflow_id: 'p_0Vj3aBc9dEfGhIjK',
      message: 'order 12345 has no total',
      code: 'TypeError',
      stack: '    at charge (/srv/shop/charge.js:41:13)',
      context: { release: '4.1.0' },
      original_event: { order: 12345 },
    },
    answer: dataOf(REPORTED),
  });
  app.post('/v1/errors', { schema }, async (request) => {
    const { body, caller, headers, rawBody } = request;
    const key = headers['idempotency-key'] as string | undefined;
    checkIdempotencyKey(key);
    const to = targetOf(body, caller, () => auditNow(deps, log, request));
    const report = reportOf(body, request, maxBodyBytes);
    const requestHash = createHash('sha256')
      .update(`${request.url}\n`)
      .update(rawBody ?? '')
      .digest('base64');
    const reported = await actions.reportError(caller.ownerId, {
      to,
      report,
      originId: caller.ownerId,
      sourceType: 'API',
      verified: true,
      idempotency: key === undefined ? undefined : { key, requestHash },
    });
    return { data: reportedToWire(reported) };
  });
}

interface ReportTarget {
  readonly workflow_id?: string;
  readonly service?: string;
}

function targetOf(
  { workflow_id: workflowId, service }: ReportTarget,
  { workflowId: own, service: ofKey }: ApiKey,
  beforeMaking: () => Promise<void>,
): ReportInput['to'] {
  if (own !== null) {
    if (service === undefined && (workflowId === undefined || workflowId === own)) {
      return ofKey === null ? { workflowId: own } : { service: ofKey, beforeMaking };
    }
    throw new Refusal(
      'forbidden',
      `This key reports errors of workflow ${own} alone; name no other one, and no service`,
    );
  }
  if (workflowId !== undefined && service !== undefined)
    throw oneOfBoth('are both given, but the error belongs to one');
  if (workflowId !== undefined) return { workflowId };
  if (service !== undefined) return { service, beforeMaking };
  throw oneOfBoth('are both missing; one of them says whose error it is');
}

function oneOfBoth(message: string): Refusal {
  return new Refusal('malformed', `workflow_id and service ${message}`, {
    errors: [{ parameter: 'workflow_id', message }],
  });
}
