// A replay of several errors: what it would be, then an operation of the server, followed until it is over.

import { setTimeout as pause } from 'node:timers/promises';
import type { Operation, ReplayDryRun, ReplayErrorsInput } from '../../client/client.ts';
import { CliError } from '../shell/exit.ts';
import { telling } from '../shell/interrupt.ts';
import { printFields, printJson, printTable } from '../shell/output.ts';
import type { Remote } from '../shell/remote.ts';

const LOOK_MS = 500;

interface Asking {
  readonly isDry: boolean | undefined;
  /** Throws unless the answer is yes. */
  readonly ask: (question: string) => Promise<void>;
}

export async function replaySeveral(remote: Remote, input: ReplayErrorsInput, { isDry, ask }: Asking): Promise<void> {
  const { errand, out, isJson } = remote;
  const { data: first } = await errand.replayErrors({ ...input, dry_run: true });
  if (!('dry_run' in first)) throw new CliError('the server does not say which errors it would be');
  if (isDry && isJson) return printJson(out, first);
  if (isDry) return showDryRun(remote, first);
  if (first.count === 0) throw new CliError('there are no such errors');
  if (first.to_replay === 0 && !first.at_least) throw new CliError(`nothing is left to replay: ${whyNot(first)}`);
  await ask(questionOf(first, remote.url));
  const { data: begun } = await errand.replayErrors(input);
  if ('dry_run' in begun) throw new CliError('the server has only counted the errors');
  await follow(remote, begun);
}

function questionOf(dryRun: ReplayDryRun, url: string): string {
  const { at_least: atLeast, to_replay: toReplay, passed_over: passedOver } = dryRun;
  const count = numbered(dryRun.count, atLeast);
  if (passedOver === 0) return `Run the events of ${count} ${dryRun.count === 1 ? 'error' : 'errors'} again on ${url}?`;
  const some = numbered(toReplay, atLeast);
  return `Run the events of ${some} of ${count} errors again on ${url}? The others are passed over (${whyNot(dryRun)}).`;
}

function whyNot({ reasons }: ReplayDryRun): string {
  return reasons.map((one) => `${one.count}: ${one.reason}`).join('; ');
}

const numbered = (n: number, isAtLeast: boolean): string => `${isAtLeast ? 'at least ' : ''}${n}`;

async function showDryRun({ out }: Remote, dryRun: ReplayDryRun): Promise<void> {
  const { count, at_least: atLeast, reasons, by_workflow: by, sample } = dryRun;
  await printFields(out, {
    errors: numbered(count, atLeast),
    'to replay': numbered(dryRun.to_replay, atLeast),
    'passed over': numbered(dryRun.passed_over, atLeast),
  });
  if (reasons.length > 0)
    await printTable(out, reasons, [
      { title: 'PASSED OVER', of: (one) => one.count },
      { title: 'WHY', of: ({ reason }) => reason },
    ]);
  if (by.length > 0)
    await printTable(out, by, [
      { title: 'OF', of: ({ id }) => id },
      { title: 'ERRORS', of: (one) => one.count },
    ]);
  if (sample.length === 0) return;
  await out.write('\n');
  await printTable(out, sample, [
    { title: 'FIRST', of: ({ id }) => id },
    { title: 'CODE', of: ({ code }) => code },
    { title: 'MESSAGE', of: ({ msg, reason }) => (reason === null ? msg : `${msg ?? ''} (left out: ${reason})`) },
  ]);
}

/** Follows an operation until it is over or paused; exits with 1 when it was paused or cancelled, or when what it replayed failed again. */
export async function follow({ errand, out, isJson }: Remote, begun: Operation): Promise<void> {
  const { id, kind } = begun;
  const goesOn = (): string =>
    `errand: the ${kind} goes on at the server: errand operations follow ${id}, or errand operations cancel ${id}`;
  const operation = await telling(out, goesOn, async () => {
    let now = begun;
    while (now.state === 'running') {
      const { progress, total } = now;
      out.progress(`${kind} ${id}: ${progress === null ? 'counting' : `of ${total ?? '?'}`}`, progress);
      await pause(LOOK_MS);
      now = (await errand.getOperation({ id })).data;
    }
    return now;
  });
  out.endProgress();
  if (isJson) await printJson(out, operation);
  else await printFields(out, operationFields(operation));
  if (operation.kind === 'replay') out.note(`What became of each error: errand operations results ${id}`);
  const { failed_same: same = 0, failed_differently: differently = 0 } = operation.replay ?? {};
  if (operation.state !== 'done' || same + differently > 0) process.exitCode = 1;
  if (operation.state === 'paused')
    out.note(`errand operations resume ${id} goes on, errand operations cancel ${id} ends it`);
}

export function operationFields(operation: Operation): Record<string, string | number | null> {
  const replay = Object.entries(operation.replay ?? {}).filter(([, value]) => typeof value === 'number');
  return {
    operation: operation.id,
    kind: operation.kind,
    state: operation.state,
    total: operation.total,
    ...(operation.kind === 'resend' ? { resent: operation.resent, 'passed over': operation.passed_over } : {}),
    ...Object.fromEntries(replay as [string, number][]),
    reason: operation.reason,
  };
}
