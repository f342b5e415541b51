// What the exit code of a command says. docs/cli.md has the same table; a test compares them.

import { ConnectionError, ProblemError } from '../../client/client.ts';
import { UnusableParameter } from '../../client/request.ts';

export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  denied: 4,
  unreachable: 5,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export const EXIT_CODES: Readonly<Record<ExitCode, string>> = {
  [EXIT.done]: 'It is done.',
  [EXIT.failed]:
    'It was refused or went wrong, a run that was waited for or replayed failed, or what a check looked at is not well.',
  [EXIT.usage]:
    'The command line is wrong: an unknown command or option, a value that cannot be, an answer that is missing.',
  [EXIT.notFound]: 'What was named is not there, or several things fit the name.',
  [EXIT.denied]: 'The key is missing, unknown or revoked, or lacks the scope.',
  [EXIT.unreachable]: 'No server or database answered, or a proxy said so (502, 503, 504), or no server runs here.',
  [EXIT.interrupted]: 'Ended by Ctrl-C.',
};

/** Thrown for what a person at the command line can correct; the message says what was wrong and what would be right. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = EXIT.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** No server is named, and none runs here. */
export class NoServer extends CliError {
  constructor() {
    const ways = 'start one with "errand start", name one with --url, or "errand login"';
    super(`no server runs on the data dir here: ${ways}`, EXIT.unreachable);
  }
}

/** What a person at the command line can correct, beside what the server's start tells. */
export const EXPECTED_ERRORS = [CliError, ProblemError, ConnectionError, UnusableParameter] as const;

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CliError) return error.exitCode;
  if (error instanceof ConnectionError) return EXIT.unreachable;
  if (error instanceof UnusableParameter) return EXIT.usage;
  return error instanceof ProblemError ? exitCodeOfStatus(error.status) : EXIT.failed;
}

/** Of proxies that reach no server, and of a server that is about to stop or cannot reach its store. */
const AWAY: ReadonlySet<number> = new Set([502, 503, 504]);

/** Returns the exit code for a refusal of the server. */
export function exitCodeOfStatus(status: number): ExitCode {
  if (status === 400) return EXIT.usage;
  if (status === 401 || status === 403) return EXIT.denied;
  if (AWAY.has(status)) return EXIT.unreachable;
  return status === 404 ? EXIT.notFound : EXIT.failed;
}
