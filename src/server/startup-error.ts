// The message of an entry point that ends with an error: one line for an error that the operator can correct, the stack,
// too, for a bug.

import { CliError } from '../cli/shell/exit.ts';
import { ConnectionError, ProblemError } from '../client/client.ts';
import { Refusal } from '../domain/fault.ts';
import { StoreUnavailable } from '../store/contract/store.ts';
import { ConfigError } from './config.ts';

const EXPECTED = [CliError, ProblemError, ConnectionError, ConfigError, Refusal, StoreUnavailable];

export function complaintOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isExpected = EXPECTED.some((kind) => error instanceof kind);
  return isExpected || isOfSystem(error) ? error.message : (error.stack ?? error.message);
}

/** Returns whether an error came from the system (no permission, no space, no such name): its stack adds nothing. */
function isOfSystem(error: NodeJS.ErrnoException): boolean {
  return typeof error.syscall === 'string' && typeof error.code === 'string';
}
