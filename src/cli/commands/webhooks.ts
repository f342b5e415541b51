// errand webhooks list | show | create | test | rotate-secret | resend | enable | disable | delete

import type { Command } from 'commander';
import type { NewWebhook, ResendDryRun, Webhook, WebhookTest } from '../../client/client.ts';
import { LIMITS, SECOND_MS } from '../../domain/limits.ts';
import { RESENDABLE } from '../../domain/operation.ts';
import { addExplainSignature } from '../listen/explain-signature.ts';
import { withExamples } from '../shell/examples.ts';
import { findId } from '../shell/find.ts';
import { addActing, addDeleting, addListing, type Fields, type Limited } from '../shell/listing.ts';
import { printFields, printJson, printTable, type Style } from '../shell/output.ts';
import { type Connect, type Remote, type ServerOptions, serverCommand } from '../shell/remote.ts';
import { secondsText, timeText, tookText } from '../shell/text.ts';
import { countValue, timeValue, wordsValue } from '../shell/values.ts';
import { follow } from './replays.ts';

const HEALTH: Readonly<Record<string, Style>> = { healthy: 'green', failing: 'red', disabled: 'red', paused: 'yellow' };

const fields = (webhook: Webhook): Fields => ({
  webhook: webhook.id,
  name: webhook.name,
  description: webhook.description,
  url: webhook.url,
  active: webhook.active ? 'yes' : 'no',
  health: webhook.health.status,
  'failing since': timeText(webhook.health.failing_since_ms),
  signature: webhook.signature.join(', '),
  ordered: webhook.ordered ? 'yes' : 'no',
  created: secondsText(webhook.created_at),
});

export function addWebhooks(program: Command, connect: Connect): void {
  const webhooks = program
    .command('webhooks')
    .description('list, create, test and manage endpoints that events are delivered to');
  addListing<Webhook, Limited>(webhooks, connect, {
    description: 'list webhooks, newest first',
    none: 'no webhooks',
    columns: [
      { title: 'ID', of: ({ id }) => id },
      { title: 'HEALTH', of: ({ health }) => health.status, style: (status) => HEALTH[status] ?? null },
      { title: 'ACTIVE', of: ({ active }) => (active ? 'yes' : 'no') },
      { title: 'NAME', of: ({ name }) => name },
      { title: 'URL', of: ({ url }) => url },
    ],
    list: (errand) => errand.listWebhooks(),
  });
  addActing(webhooks, connect, {
    ...{ kind: 'webhook', name: 'show', description: 'show a webhook: its settings and health', fields },
    act: async (errand, id) => (await errand.getWebhook({ id })).data,
  });
  addCreate(webhooks, connect);
  const test = addActing(webhooks, connect, {
    ...{
      kind: 'webhook',
      name: 'test',
      description: 'send one signed request now, and show the response; exit code 1 when it failed',
    },
    act: async (errand, id) => (await errand.testWebhook({ id })).data,
    fields: testFields,
    more: async (_remote, { delivered }: WebhookTest) => {
      if (!delivered) process.exitCode = 1;
    },
  });
  withExamples(test, 'errand webhooks test "Errors to chat"');
  addActing<NewWebhook | { readonly secret: string }, ServerOptions & { readonly overlap?: number }>(
    webhooks,
    connect,
    {
      ...{ kind: 'webhook', name: 'rotate-secret', description: 'create a new signing secret; it is shown once' },
      act: async (errand, id, { overlap }) => (await errand.rotateWebhookSecret({ id, overlap_s: overlap })).data,
      fields: ({ secret }) => ({ secret }),
    },
  ).option(
    '--overlap <seconds>',
    'seconds for which the old secret also signs',
    countValue(0, LIMITS.maxSecretOverlapMs / SECOND_MS),
  );
  addResend(webhooks, connect);
  addExplainSignature(webhooks);
  for (const active of [true, false]) {
    addActing(webhooks, connect, {
      ...{ kind: 'webhook', name: active ? 'enable' : 'disable', fields },
      description: active
        ? 'enable a webhook, and send its held deliveries'
        : 'disable a webhook: its deliveries are held',
      act: async (errand, id) => (await errand.updateWebhook({ id, active })).data,
    });
  }
  addDeleting(webhooks, connect, {
    ...{ kind: 'webhook', description: 'delete a webhook with its subscriptions', fields },
    act: async (errand, id) => (await errand.deleteWebhook({ id })).data,
  });
}

function testFields({ delivered, follows, request, attempt }: WebhookTest): Fields {
  return {
    delivered: delivered ? 'yes' : 'no',
    request: `${request.method} ${request.url}`,
    answer: attempt.status,
    took: tookText(attempt.took_ms),
    detail: attempt.detail,
    body: attempt.response_body,
    follows,
  };
}

function addCreate(webhooks: Command, connect: Connect): void {
  const create = serverCommand(webhooks, 'create <url>', 'make a webhook; its secret is shown once')
    .option('--name <name>', 'label for your own use')
    .option('--description <text>', 'longer description for your own use')
    .option('--ordered', 'one delivery at a time, in the order of the events');
  withExamples(create, 'errand webhooks create https://example.com/hooks --name "Errors to chat"');
  create.action(
    async (
      url: string,
      {
        name,
        description,
        ordered,
        ...options
      }: ServerOptions & { readonly name?: string; readonly description?: string; readonly ordered?: true },
    ) => {
      // `--url` is the server's.
      const { errand, out, isJson } = await connect(options);
      const { data } = await errand.createWebhook({ url, name, description, ordered });
      if (isJson) return printJson(out, data);
      await printFields(out, { ...fields(data), secret: data.secret });
      out.note(`Send errors there: errand subscriptions create <workflow or source> ${data.id} --event '$errors'`);
      out.note("What one emits itself goes there without --event, or with its event name; '*' stands for all of them");
    },
  );
}

interface ResendOptions extends ServerOptions {
  readonly since: string;
  readonly until?: string;
  readonly state?: string;
  readonly dryRun?: true;
}

function addResend(webhooks: Command, connect: Connect): void {
  const resend = serverCommand(webhooks, 'resend <id>', 'send many deliveries again, and follow it until it is done')
    .requiredOption(
      '--since <time>',
      'deliveries from this time on: an age such as 2h or 7d, or 2026-01-31T12:00:00Z',
      timeValue,
    )
    .option('--until <time>', 'before this time', timeValue)
    .option('--state <states>', `comma-separated: ${RESENDABLE.join(', ')}; default: exhausted`, wordsValue(RESENDABLE))
    .option('--dry-run', 'show how many deliveries would be sent, and a few of them; send nothing');
  withExamples(resend, 'errand webhooks resend "Errors to chat" --since 6h --dry-run');
  resend.action(async (given: string, { since, until, state, dryRun, ...options }: ResendOptions) => {
    const remote = await connect(options);
    const id = await findId(remote.errand, 'webhook', given);
    const { data } = await remote.errand.resendWebhook({
      id,
      since,
      until,
      state,
      ...(dryRun ? { dry_run: true } : {}),
    });
    if (!('dry_run' in data)) return follow(remote, data);
    if (remote.isJson) return printJson(remote.out, data);
    await showDryRun(remote, data);
  });
}

async function showDryRun(
  { out }: Remote,
  { count, at_least: isPart, by_state: by, sample }: ResendDryRun,
): Promise<void> {
  await printFields(out, {
    deliveries: `${isPart ? 'at least ' : ''}${count}`,
    ...Object.fromEntries(by.map(({ state, count: of }) => [state, of])),
  });
  if (sample.length === 0) return;
  await out.write('\n');
  await printTable(out, sample, [
    { title: 'FIRST', of: ({ id }) => id },
    { title: 'STATE', of: ({ state }) => state },
    { title: 'OF', of: ({ emitter_id: emitter }) => emitter },
    { title: 'ATTEMPTS', of: ({ attempts_made: made }) => made },
  ]);
}
