// Tells of workflow files that could not be deployed, as of every other error: once for what a file is and what is wrong with
// it, however often it is scanned, whichever process scans it, and after a restart.

import { text } from '../../domain/bytes.ts';
import { ERRORS } from '../../domain/emission.ts';
import { beginOfFileFailure, failureOfFile } from '../../domain/errors/file-failure.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { Clock } from '../../ports.ts';
import type { Store } from '../../store/contract/store.ts';
import type { Emit } from '../accept/emit.ts';
import { digestOf, workflowIdOf } from './identity.ts';

interface FileErrorsDeps {
  readonly store: Pick<Store, 'listEmissions'>;
  readonly emit: Emit;
  readonly clock: Clock;
}

export interface BrokenFile {
  readonly ownerId: string;
  readonly key: string;
  readonly source: string;
  readonly problems: readonly string[];
}

export type TellBroken = (broken: BrokenFile) => Promise<void>;

export function createFileErrors({ store, emit, clock }: FileErrorsDeps): TellBroken {
  return async ({ ownerId, key, source, problems }) => {
    const workflowId = workflowIdOf(ownerId, key);
    const digest = digestOf([key, source, ...problems]);
    const begin = beginOfFileFailure(digest);
    const page = { limit: LIMITS.listedPerEmitterAndName };
    const { items } = await store.listEmissions({ ownerId, emitterId: workflowId, name: ERRORS }, page, true);
    if (items.some(({ body }) => body !== null && text(body.subarray(0, begin.length)) === begin)) return;
    // Several processes may look at the same time.
    const idempotency = { triggerId: workflowId, key: digest, requestHash: digest };
    const failed = { ownerId, workflowId, file: key, digest, problems, tsMs: clock.nowMs() };
    await emit(failureOfFile(failed), { idempotency });
  };
}
