// Builds the addresses by which a request ends a wait.

import { numberedId, PREFIX } from '../../../domain/ids.ts';
import { resumeToken } from '../../resume-token.ts';
import type { RunMessage } from '../protocol.ts';

export interface WaitAddresses {
  readonly resume_url: string;
  readonly cancel_url: string;
}

/** Returns the addresses of this run's next wait. */
export function addressesOf({ run, context, earlier, resumeKey }: RunMessage): WaitAddresses {
  const waits = (earlier?.waits ?? 0) + 1;
  const base = typeof context.public_url === 'string' ? context.public_url.replace(/\/+$/, '') : '';
  const wait = `${base}/r/${numberedId(PREFIX.run, run)}/${waits}.${resumeToken(resumeKey, run, waits)}`;
  return { resume_url: `${wait}/resume`, cancel_url: `${wait}/cancel` };
}
