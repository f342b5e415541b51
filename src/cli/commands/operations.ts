// errand operations list | show | follow | pause | resume | cancel

import type { Command } from 'commander';
import type { Operation } from '../../client/client.ts';
import { findId } from '../shell/find.ts';
import { addActing, addListing, type Limited } from '../shell/listing.ts';
import { stateStyle } from '../shell/output.ts';
import { type Connect, type ServerOptions, serverCommand } from '../shell/remote.ts';
import { timeText } from '../shell/text.ts';
import { follow, operationFields } from './replays.ts';

export function addOperations(program: Command, connect: Connect): void {
  const operations = program
    .command('operations')
    .description('list, follow, pause and cancel resends and replays that run in the background');
  addListing<Operation, Limited>(operations, connect, {
    description: 'list operations, newest first',
    none: 'no operations',
    columns: [
      { title: 'TIME', of: ({ created_at_ms: ms }) => timeText(ms) },
      { title: 'ID', of: ({ id }) => id },
      { title: 'KIND', of: ({ kind }) => kind },
      { title: 'STATE', of: ({ state }) => state, style: stateStyle },
      { title: 'DONE', of: ({ progress }) => (progress === null ? '' : `${Math.floor(progress * 100)} %`) },
      { title: 'OF', of: ({ total }) => total },
      { title: 'WHY', of: ({ reason }) => reason },
    ],
    list: (errand) => errand.listOperations(),
  });
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
