// The address of a trigger of kind `errors`: takes errors of a program, as `POST /v1/errors` does, without a key. What comes
// there are errors of the trigger's workflow.

import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Static } from 'typebox';
import { Refusal } from '../../domain/refusal.ts';
import type { Trigger } from '../../domain/resource.ts';
import type { HttpDeps } from '../deps.ts';
import { mergeParams, parseBody } from '../params.ts';
import { Type } from '../schema/type.ts';
import { validatorOf } from '../validation.ts';
import { REPORT, reportOf } from '../wire/log/reports.ts';

const BODY = Type.Object(REPORT, { additionalProperties: false });
const faultIn = validatorOf(BODY);

/** Throws `Refusal` for another method: a link that is followed reports nothing. */
export function checkReportMethod({ method }: IncomingMessage, res: ServerResponse): void {
  if (method === 'POST') return;
  res.setHeader('allow', 'POST, OPTIONS');
  throw new Refusal('method_not_allowed', `${method} is not allowed here; errors are reported with POST`);
}

interface ReportRequest {
  readonly trigger: Trigger;
  readonly body: Buffer;
  readonly lineage: readonly string[];
}

/** Accepts the error in a body, whatever its content type: pages send JSON as text. Returns its emit id. */
export async function acceptReport(deps: HttpDeps, req: IncomingMessage, from: ReportRequest) {
  const { trigger, body, lineage } = from;
  deps.quotas.takeStored(trigger.ownerId, body.length);
  const given = mergeParams(BODY, {}, parseBody(body, { contentType: undefined, schema: BODY }));
  const fault = faultIn(given);
  if (fault) throw fault;
  const report = reportOf(given as Static<typeof BODY>, { query: {}, rawBody: body }, deps.maxBodyBytes);
  const key = req.headers['idempotency-key'] as string | undefined;
  const requestHash = createHash('sha256').update(body).digest('base64');
  const { emitId } = await deps.actions.reportError(trigger.ownerId, {
    lineage,
    to: { workflowId: trigger.runnableId },
    report,
    originId: trigger.id,
    sourceType: 'HTTP',
    verified: trigger.tokenHash !== null,
    idempotency: key === undefined ? undefined : { key, requestHash },
  });
  return emitId;
}
