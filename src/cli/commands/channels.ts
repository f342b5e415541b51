// errand channels list | show | create | test | enable | disable | delete

import { Argument, type Command } from 'commander';
import type { Channel, ChannelTest, CreateChannelInput } from '../../client/client.ts';
import { CHANNEL_KINDS, type ChannelKind } from '../../domain/notices/channel.ts';
import { withExamples } from '../shell/examples.ts';
import { CliError, EXIT } from '../shell/exit.ts';
import { readJson } from '../shell/json-text.ts';
import { addActing, addDeleting, addListing, type Fields, type Limited } from '../shell/listing.ts';
import { printFields, printJson } from '../shell/output.ts';
import { type Connect, type ServerOptions, serverCommand } from '../shell/remote.ts';
import { secondsText, tookText } from '../shell/text.ts';

const whereOf = ({ config }: Channel): string | undefined => config.to ?? config.url ?? config.key;

const fields = (channel: Channel): Fields => ({
  channel: channel.id,
  name: channel.name,
  kind: channel.kind,
  active: channel.active ? 'yes' : 'no',
  to: whereOf(channel),
  created: secondsText(channel.created_at),
  changed: secondsText(channel.updated_at),
});

export function addChannels(program: Command, connect: Connect): void {
  const channels = program
    .command('channels')
    .description('manage channels: the chats, incident services and mailboxes that error notices are sent to');
  const list = addListing<Channel, Limited>(channels, connect, {
    description: 'list channels, newest first',
    none: 'no channels',
    columns: [
      { title: 'ID', of: ({ id }) => id },
      { title: 'KIND', of: ({ kind }) => kind },
      { title: 'ACTIVE', of: ({ active }) => (active ? 'yes' : 'no') },
      { title: 'NAME', of: ({ name }) => name },
      { title: 'TO', of: whereOf },
    ],
    list: (errand) => errand.listChannels(),
  });
  withExamples(list, 'errand channels list');
  const show = addActing(channels, connect, {
    ...{ kind: 'channel', name: 'show', description: 'show a channel, without its secrets', fields },
    act: async (errand, id) => (await errand.getChannel({ id })).data,
  });
  withExamples(show, 'errand channels show "On call"');
  addCreate(channels, connect);
  const test = addActing(channels, connect, {
    ...{ kind: 'channel', name: 'test', description: 'send a test notice now; exit code 1 when it failed' },
    act: async (errand, id) => (await errand.testChannel({ id })).data,
    fields: ({ delivered, attempt }: ChannelTest): Fields => ({
      delivered: delivered ? 'yes' : 'no',
      answer: attempt.status,
      took: tookText(attempt.took_ms),
      detail: attempt.detail,
      body: attempt.response_body,
    }),
    more: async (_remote, { delivered }) => {
      if (!delivered) process.exitCode = EXIT.failed;
    },
  });
  withExamples(test, 'errand channels test "On call"');
  for (const active of [true, false]) {
    const name = active ? 'enable' : 'disable';
    const switching = addActing(channels, connect, {
      ...{ kind: 'channel', name, fields },
      description: active ? 'enable a channel' : 'disable a channel: no notices are sent to it',
      act: async (errand, id) => (await errand.updateChannel({ id, active })).data,
    });
    withExamples(switching, `errand channels ${name} "On call"`);
  }
  const deleting = addDeleting(channels, connect, {
    ...{ kind: 'channel', description: 'delete a channel', fields },
    act: async (errand, id) => (await errand.deleteChannel({ id })).data,
  });
  withExamples(deleting, 'errand channels delete "On call" --yes');
}

/** What a channel of the kind needs. */
const HOW: Readonly<Record<ChannelKind, string>> = {
  ...{ slack: ofUrl('Slack'), discord: ofUrl('Discord'), teams: ofUrl('Teams') },
  ...{ pagerduty: ofKey('PagerDuty'), opsgenie: ofKey('Opsgenie'), http: ofUrl('the receiver') },
  mail: 'a file with {"to": "ops@example.com"}, or - and the same on standard input',
};

function ofUrl(whose: string): string {
  return `a file with {"url": "https://…"}, an address of ${whose}, or - and the same on standard input`;
}

function ofKey(whose: string): string {
  return `a file with {"key": "…"}, a key of ${whose}, or - and the same on standard input`;
}

/** Addresses and keys of channels are secrets: they come from a file, since other users see what a command was given. */
function addCreate(channels: Command, connect: Connect): void {
  const create = serverCommand(channels, 'create', `make a channel: ${CHANNEL_KINDS.join(', ')}`)
    .addArgument(new Argument('<kind>', 'kind of the channel').choices(CHANNEL_KINDS))
    .option('--config <file>', 'what the kind needs, as JSON such as {"url": "https://…"}; - is standard input')
    .option('--name <name>', 'label for your own use');
  withExamples(
    create,
    `echo '{"to": "ops@example.com"}' | errand channels create mail --config - --name "On call"`,
    'errand channels create slack --config slack.json',
  );
  create.action(
    async (kind: ChannelKind, { config, name, ...options }: ServerOptions & { config?: string; name?: string }) => {
      // Not an option that is required: that would be said before the kind is looked at.
      if (config === undefined) throw new CliError(`a channel needs --config: ${HOW[kind]}`, EXIT.usage);
      // The server says what is wrong with it.
      const input = { kind, name, config: (await readJson(config)) as CreateChannelInput['config'] };
      const { errand, out, isJson } = await connect(options);
      const { data } = await errand.createChannel(input);
      if (isJson) return printJson(out, data);
      await printFields(out, fields(data));
      out.note(`Send it a test notice: errand channels test ${data.id}`);
      out.note(
        'It gets no notices yet: choose it in the settings of the dashboard, or with "channels" of PUT /v1/users/me',
      );
    },
  );
}
