// The `$errors` emission of a workflow file that could not be deployed: of the workflow that the file is, or will be.

import { concat, text, utf8 } from '../bytes.ts';
import { ERRORS, type NewEmission, PLAIN_EMISSION } from '../emission.ts';
import { LIMITS } from '../limits.ts';
import { VERSION } from '../version.ts';
import { captured } from './fingerprint.ts';

export interface FailedFile {
  readonly ownerId: string;
  /** It need not exist yet. */
  readonly workflowId: string;
  /** Path in the folder. */
  readonly file: string;
  /** Of what the file was and what was wrong with it. */
  readonly digest: string;
  /** Each as `file:line:column: text`. */
  readonly problems: readonly string[];
  readonly tsMs: number;
}

const MAX_PROBLEMS = 20;
const CODE = 'StartFailed';
const BEGIN = '{"original_event":{"sha256":';

/**
 * Returns the bytes with which the body of a file's failure begins. The digest comes first: by the beginning of its body the
 * emission is found again.
 */
export function beginOfFileFailure(digest: string): string {
  return `${BEGIN}${JSON.stringify(digest)},`;
}

/** Returns whether an error is of a file that could not be deployed. */
export function isOfFile({ code, body }: { readonly code: string | null; readonly body: Uint8Array | null }): boolean {
  return code === CODE && body !== null && text(body.subarray(0, BEGIN.length)) === BEGIN;
}

export function failureOfFile(failed: FailedFile): NewEmission {
  const { ownerId, workflowId, file, digest, tsMs } = failed;
  const ts = new Date(tsMs).toISOString();
  const problems = failed.problems.slice(0, MAX_PROBLEMS).map((problem) => cut(problem, LIMITS.messageBytes / 8));
  const event = `{"sha256":${JSON.stringify(digest)},"file":${JSON.stringify(file)},"problems":${JSON.stringify(problems)}}`;
  const context = {
    id: `file:${digest}`,
    ts,
    workflow_id: workflowId,
    deployment_id: null,
    source_type: 'API',
    verified: false,
    owner_id: ownerId,
    platform_version: VERSION,
    workflow_name: file,
    emitter_id: ownerId,
    trace_id: `file:${digest}`,
    replay: false,
    attempt: 1,
    test: false,
  };
  const msg = cut(`The file ${file} was not deployed. ${problems.join('\n')}`, LIMITS.messageBytes / 2);
  const error = { code: CODE, msg, cellId: '', ts, stack: '', namespace: '' };
  const before = '{"original_event":';
  const rest = `,"original_context":${JSON.stringify(context)},"error":${JSON.stringify(error)}}`;
  const bytes = utf8(event);
  return {
    ...PLAIN_EMISSION,
    ownerId,
    emitterId: workflowId,
    originId: workflowId,
    name: ERRORS,
    body: concat([utf8(before), bytes, utf8(rest)]),
    sourceType: 'ERROR',
    lineage: [workflowId],
    hops: 1,
    code: error.code,
    fault: captured(error, null),
    originalStart: before.length,
    originalLength: bytes.byteLength,
  };
}

function cut(text: string, chars: number): string {
  return (text.length > chars ? `${text.slice(0, chars - 1)}…` : text).toWellFormed();
}
