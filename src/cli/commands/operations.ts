// errand operations list | show | follow | results | pause | resume | cancel

import type { Command } from 'commander';
import type { Operation, ReplayResult } from '../../client/client.ts';
import { OUTCOMES, type ReplayOutcome } from '../../domain/errors/replaying.ts';
import { OPERATION_KINDS, type OperationKind } from '../../domain/operation.ts';
import { withExamples } from '../shell/examples.ts';
import { findId } from '../shell/find.ts';
import { addActing, addListing, type Limited } from '../shell/listing.ts';
import { type Column, printFirst, printJson, type Style, stateStyle, timeColumn } from '../shell/output.ts';
import { type Connect, type ServerOptions, serverCommand } from '../shell/remote.ts';

import { choiceOption, countValue, LIST_LIMIT, take } from '../shell/values.ts';
import { follow, operationFields } from './replays.ts';

interface ListOptions extends Limited {
  readonly kind?: OperationKind;
  readonly webhook?: string;
}

interface ResultOptions extends Limited {
  readonly outcome?: ReplayOutcome;
  readonly after?: string;
}

const OUTCOME_STYLES: Readonly<Record<string, Style>> = {
  under_way: 'cyan',
  fixed: 'green',
  failed_same: 'red',
  failed_differently: 'red',
  not_replayed: 'yellow',
  cancelled: 'dim',
};

const RESULT_COLUMNS: readonly Column<ReplayResult>[] = [
  { title: 'ERROR', of: ({ id }) => id },
  { title: 'OUTCOME', of: ({ outcome }) => outcome, style: (outcome) => OUTCOME_STYLES[outcome] ?? null },
  { title: 'RUN', of: ({ run_id: id }) => id },
  { title: 'ENDED IN', of: ({ error_id: id }) => id },
  { title: 'WHY', of: whyOf },
];

function whyOf({ reason, error }: ReplayResult): string {
  return [error ? `${error.code}: ${error.msg}` : null, reason].filter((part) => part !== null).join(' — ');
}

export function addOperations(program: Command, connect: Connect): void {
  const operations = program
    .command('operations')
    .description('list, follow, pause and cancel resends and replays that run in the background');
  const list = addListing<Operation, ListOptions>(operations, connect, {
    description: 'list operations, newest first',
    none: 'no operations',
    columns: [
      timeColumn('TIME', ({ created_at_ms: ms }) => ms),
      { title: 'ID', of: ({ id }) => id },
      { title: 'KIND', of: ({ kind }) => kind },
      { title: 'STATE', of: ({ state }) => state, style: stateStyle },
      { title: 'DONE', of: ({ progress }) => (progress === null ? '' : `${Math.floor(progress * 100)} %`) },
      { title: 'OF', of: ({ total }) => total },
      { title: 'WHY', of: ({ reason }) => reason },
    ],
    list: async (errand, { kind, webhook }) => {
      const webhookId = webhook === undefined ? undefined : await findId(errand, 'webhook', webhook);
      return { items: errand.listOperations({ kind, webhook_id: webhookId }) };
    },
  })
    .addOption(choiceOption('--kind <kind>', 'only those of this kind', OPERATION_KINDS))
    .option('--webhook <id>', 'only resends of this webhook');
  withExamples(list, 'errand operations list', 'errand operations list --kind replay --json');
  const one = { kind: 'operation', fields: operationFields } as const;
  addActing(operations, connect, {
    ...{
      ...one,
      name: 'show',
      description: 'show an operation: its progress, and why it is paused; "last": the newest',
    },
    act: async (errand, id) => (await errand.getOperation({ id })).data,
  });
  serverCommand(
    operations,
    'follow <id>',
    'show how it goes on until it is over; exit code 1 when it did not end well',
  ).action(async (given: string, options: ServerOptions) => {
    const remote = await connect(options);
    const { data } = await remote.errand.getOperation({ id: await findId(remote.errand, 'operation', given) });
    await follow(remote, data);
  });
  addResults(operations, connect);
  addActing(operations, connect, {
    ...{ ...one, name: 'pause', description: 'pause an operation' },
    act: async (errand, id) => (await errand.pauseOperation({ id })).data,
  });
  addActing(operations, connect, {
    ...{ ...one, name: 'resume', description: 'resume a paused operation' },
    act: async (errand, id) => (await errand.resumeOperation({ id })).data,
  });
  addActing(operations, connect, {
    ...{ ...one, name: 'cancel', description: 'cancel an operation; what was already sent or replayed stays so' },
    act: async (errand, id) => (await errand.cancelOperation({ id })).data,
  });
}

function addResults(operations: Command, connect: Connect): void {
  const results = serverCommand(
    operations,
    'results <id>',
    'list what became of each error that a replay has come to, newest error first; "last": of the newest operation',
  )
    .addOption(choiceOption('--outcome <outcome>', 'only errors of which this became', OUTCOMES))
    .option('--after <id>', 'go on after this error, with older ones')
    .option('--limit <n>', 'how many to show; 0: all', countValue(0), LIST_LIMIT);
  withExamples(
    results,
    'errand operations results op_0Vj3aBc9dEfGhIjK --outcome failed_same',
    'errand operations results op_0Vj3aBc9dEfGhIjK --limit 0 --json | jq -r .[].outcome | sort | uniq -c',
  );
  results.action(async (given: string, { outcome, after: afterGiven, limit, ...options }: ResultOptions) => {
    const { errand, out, isJson } = await connect(options);
    const id = await findId(errand, 'operation', given);
    const after = afterGiven === undefined ? undefined : await findId(errand, 'error', afterGiven);
    const taken = await take(errand.listReplayResults({ id, outcome, after }), limit);
    if (isJson) return printJson(out, taken.records);
    if (taken.records.length === 0) return out.note('no results');
    await printFirst(out, taken, RESULT_COLUMNS);
  });
}
