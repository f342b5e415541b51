// errand heartbeats list | show | create | enable | disable | delete

import type { Command } from 'commander';
import type { Heartbeat } from '../../client/client.ts';
import { LIMITS, SECOND_MS } from '../../domain/limits.ts';
import { withExamples } from '../shell/examples.ts';
import { CliError, EXIT } from '../shell/exit.ts';
import { addActing, addDeleting, addListing, type Fields, type Limited } from '../shell/listing.ts';
import { printFields, printJson, type Style, timeColumn } from '../shell/output.ts';
import { type Connect, type ServerOptions, serverCommand } from '../shell/remote.ts';
import { timeText, tookText } from '../shell/text.ts';
import { countValue } from '../shell/values.ts';

const STATUS: Readonly<Record<string, Style>> = { up: 'green', down: 'red', new: 'yellow', paused: 'dim' };

const whenOf = ({ cron, timezone, interval_seconds: seconds }: Heartbeat): string =>
  cron === undefined ? `every ${seconds} s` : `${cron} ${timezone}`;

const fields = (beat: Heartbeat): Fields => ({
  heartbeat: beat.id,
  name: beat.name,
  status: beat.status,
  wrong: beat.codes.join(', '),
  'down since': timeText(beat.down_since_ms),
  when: whenOf(beat),
  grace: `${beat.grace_seconds} s`,
  'last ping': timeText(beat.last_ping_at_ms),
  'last run': tookText(beat.last_duration_ms),
  'next ping': timeText(beat.next_expected_at_ms),
  pings: beat.pings,
  failures: beat.failures,
  'ping address': beat.ping_url,
});

export function addHeartbeats(program: Command, connect: Connect): void {
  const heartbeats = program
    .command('heartbeats')
    .description('manage heartbeats: a job that runs elsewhere and does not report in time is an error');
  const list = addListing<Heartbeat, Limited>(heartbeats, connect, {
    description: 'list heartbeats, newest first',
    none: 'no heartbeats',
    columns: [
      { title: 'ID', of: ({ id }) => id },
      { title: 'STATUS', of: ({ status }) => status, style: (status) => STATUS[status] ?? null },
      timeColumn('LAST', ({ last_ping_at_ms: ms }) => ms),
      timeColumn('NEXT', ({ next_expected_at_ms: ms }) => ms),
      { title: 'WHEN', of: whenOf },
      { title: 'NAME', of: ({ name }) => name },
    ],
    list: (errand) => errand.listHeartbeats(),
  });
  withExamples(list, 'errand heartbeats list');
  const show = addActing(heartbeats, connect, {
    ...{ kind: 'heartbeat', name: 'show', description: 'show a heartbeat: its state and its ping address', fields },
    act: async (errand, id) => (await errand.getHeartbeat({ id })).data,
  });
  withExamples(show, 'errand heartbeats show Backup');
  addCreate(heartbeats, connect);
  for (const active of [true, false]) {
    const name = active ? 'enable' : 'disable';
    const switching = addActing(heartbeats, connect, {
      ...{ kind: 'heartbeat', name, fields },
      description: active
        ? 'enable a heartbeat'
        : 'pause a heartbeat: pings are still counted, but a missing one is no error',
      act: async (errand, id) => (await errand.updateHeartbeat({ id, active })).data,
    });
    withExamples(switching, `errand heartbeats ${name} Backup`);
  }
  const deleting = addDeleting(heartbeats, connect, {
    ...{ kind: 'heartbeat', description: 'delete a heartbeat with its address', fields },
    act: async (errand, id) => (await errand.deleteHeartbeat({ id })).data,
  });
  withExamples(deleting, 'errand heartbeats delete Backup --yes');
}

const MIN_S = LIMITS.minHeartbeatMs / SECOND_MS;
const MIN_GRACE_S = LIMITS.minHeartbeatGraceMs / SECOND_MS;
const MAX_S = LIMITS.maxWatchMs / SECOND_MS;

interface CreateOptions extends ServerOptions {
  readonly cron?: string;
  readonly every?: number;
  readonly timezone?: string;
  readonly grace?: number;
  readonly postOnly?: true;
}

function addCreate(heartbeats: Command, connect: Connect): void {
  const create = serverCommand(heartbeats, 'create <name>', 'make a heartbeat, and show the address that its job pings')
    .option('--every <seconds>', 'the longest time between two pings', countValue(MIN_S, MAX_S))
    .option('--cron <expression>', 'schedule of the job, instead of --every')
    .option('--timezone <zone>', 'timezone of --cron, such as Europe/Berlin; default: UTC')
    .option('--grace <seconds>', 'how late a ping may be, in seconds; default: 300', countValue(MIN_GRACE_S, MAX_S))
    .option('--post-only', 'refuse GET, so that programs that follow links do not ping');
  withExamples(
    create,
    'errand heartbeats create Backup --cron "0 3 * * *" --timezone Europe/Berlin',
    'errand heartbeats create Queue --every 600 --json | jq -r .ping_url',
  );
  create.action(async (name: string, { cron, every, timezone, grace, postOnly, ...options }: CreateOptions) => {
    if ((cron === undefined) === (every === undefined))
      throw new CliError('give one of --every and --cron: when a ping is expected', EXIT.usage);
    const { errand, out, isJson } = await connect(options);
    const when = { cron, interval_seconds: every, timezone, grace_seconds: grace };
    const { data } = await errand.createHeartbeat({ name, ...when, ...(postOnly ? { post_only: true } : {}) });
    if (isJson) return printJson(out, data);
    await printFields(out, fields(data));
    out.note(`At the end of the job: curl -fsS ${data.ping_url}`);
  });
}
