// Where the wait that a step asks for can be ended by request.

import { numberedId, PREFIX } from '../../../domain/ids.ts';
import { resumeToken } from '../../resume-token.ts';
import type { RunMessage } from '../protocol.ts';

export interface WaitAddresses {
  readonly resume_url: string;
  readonly cancel_url: string;
}

/** Of the next wait of this run. */
export function addressesOf({ run, context, goingOn, resumeKey }: RunMessage): WaitAddresses {
  const waits = (goingOn?.waits ?? 0) + 1;
  const base = typeof context.public_url === 'string' ? context.public_url.replace(/\/+$/, '') : '';
  const wait = `${base}/r/${numberedId(PREFIX.run, run)}/${waits}.${resumeToken(resumeKey, run, waits)}`;
  return { resume_url: `${wait}/resume`, cancel_url: `${wait}/cancel` };
}
