// The message of an entry point that ends with an error: one line for an error that the operator can correct, the stack,
// too, for a bug.

import { Refusal } from '../domain/refusal.ts';
import { StoreUnavailable } from '../store/contract/unavailable.ts';
import { ConfigError } from './config.ts';

type Kind = abstract new (...args: never) => Error;

const EXPECTED: readonly Kind[] = [ConfigError, Refusal, StoreUnavailable];

/** Returns the message. `others`: more kinds of errors that the operator can correct. */
export function complaintOf(error: unknown, others: readonly Kind[] = []): string {
  if (!(error instanceof Error)) return String(error);
  const isExpected = [...EXPECTED, ...others].some((kind) => error instanceof kind);
  return isExpected || isOfSystem(error) ? error.message : (error.stack ?? error.message);
}

/** Returns whether an error came from the system (no permission, no space, no such name): its stack adds nothing. */
function isOfSystem(error: NodeJS.ErrnoException): boolean {
  return typeof error.syscall === 'string' && typeof error.code === 'string';
}
