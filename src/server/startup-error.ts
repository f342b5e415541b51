// What an entry point says before it ends with an error: one line for what the operator can correct, and the stack
// as well for what is a bug of ours.

import { CliError } from '../cli/api.ts';
import { Refusal } from '../domain/fault.ts';
import { StoreUnavailable } from '../store/contract/store.ts';
import { ConfigError } from './config.ts';

const EXPECTED = [CliError, ConfigError, Refusal, StoreUnavailable];

export function complaintOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isExpected = EXPECTED.some((kind) => error instanceof kind);
  return isExpected || isOfSystem(error) ? error.message : (error.stack ?? error.message);
}

/** No right, no space, no such name: it says what was tried and with what, and has hardly a stack of use to anybody. */
function isOfSystem(error: NodeJS.ErrnoException): boolean {
  return typeof error.syscall === 'string' && typeof error.code === 'string';
}
