// errand workflows list | show | code | run | enable | disable | deployments | activate | delete

import { type Command, Option } from 'commander';
import type { Trigger, Workflow, WorkflowWhole } from '../../client/client.ts';
import { withExamples } from '../shell/examples.ts';
import { CliError, EXIT } from '../shell/exit.ts';
import { findDeployment, findId } from '../shell/find.ts';
import { readData, readJsonText } from '../shell/json-text.ts';
import { addActing, addDeleting, addListing, type Fields, type Limited } from '../shell/listing.ts';
import { printFields, printJson, printTable, timeColumn } from '../shell/output.ts';
import { type Connect, type Remote, type ServerOptions, serverCommand } from '../shell/remote.ts';
import { msOf, safeLines, secondsText, shareText, tookText } from '../shell/text.ts';
import { runToEnd, type Waiting, waitOption } from '../shell/waiting.ts';
import { printRun } from './runs.ts';

interface ListOptions extends Limited {
  readonly name?: string;
  readonly active?: true;
  readonly inactive?: true;
}

export function addWorkflows(program: Command, connect: Connect): void {
  const workflows = program.command('workflows').description('list, show, run, enable and disable workflows');
  const list = addListing<Workflow, ListOptions>(workflows, connect, {
    description:
      'list workflows, newest first, with their last run, and the failures and p95 duration of their newest 100 runs',
    none: 'no workflows',
    columns: [
      { title: 'ID', of: ({ id }) => id },
      { title: 'ACTIVE', of: ({ active }) => (active ? 'yes' : 'no') },
      timeColumn('LAST RUN', ({ health }) => health?.last_run?.created_at_ms),
      { title: 'STATE', of: ({ health }) => health?.last_run?.state },
      { title: 'FAILED', of: ({ health }) => shareText(health?.error_ratio) },
      { title: 'P95', of: ({ health }) => tookText(health?.p95_ms) },
      { title: 'NAME', of: ({ name }) => name },
    ],
    list: (errand, { name, active, inactive }) =>
      errand.listWorkflows({ name, expand: 'health', active: inactive ? false : active }),
  })
    .option('--name <name>', 'only the one with this name')
    .option('--active', 'only enabled ones')
    .addOption(new Option('--inactive', 'only disabled ones').conflicts('active'));
  withExamples(list, 'errand workflows list', 'errand workflows list --json | jq -r .[].id');
  const show = addActing(workflows, connect, {
    ...{
      kind: 'workflow',
      name: 'show',
      description: 'show a workflow: its steps, triggers and addresses',
      fields: wholeFields,
      more: showParts,
    },
    act: async (errand, id) => (await errand.getWorkflow({ id })).data,
  });
  withExamples(show, 'errand workflows show "Charge orders"');
  addCode(workflows, connect);
  addRun(workflows, connect);
  for (const active of [true, false]) {
    addActing(workflows, connect, {
      kind: 'workflow',
      name: active ? 'enable' : 'disable',
      description: active
        ? 'enable a workflow: its triggers accept events'
        : 'disable a workflow: its triggers accept no events',
      act: async (errand, id) => (await errand.updateWorkflow({ id, active })).data,
      fields,
    });
  }
  addDeployments(workflows, connect);
  addDeleting(workflows, connect, {
    ...{ kind: 'workflow', description: 'delete a workflow with its triggers and subscriptions', fields },
    act: async (errand, id) => (await errand.deleteWorkflow({ id })).data,
  });
}

const fields = ({ id, name, active, deployment_id: deployment }: Workflow): Fields => ({
  workflow: id,
  name,
  active: active ? 'yes' : 'no',
  deployment,
});

const wholeFields = (workflow: WorkflowWhole): Fields => ({
  ...fields(workflow),
  created: secondsText(workflow.created_at),
  changed: secondsText(workflow.updated_at),
});

async function showParts({ out }: Remote, { steps, triggers }: WorkflowWhole): Promise<void> {
  if (triggers.length > 0) {
    await out.write('\n');
    await printTable(out, triggers, [
      { title: 'TRIGGER', of: ({ type }) => type },
      { title: 'ID', of: ({ id }) => id },
      timeColumn('NEXT', ({ next_at_ms: ms }) => ms),
      { title: 'OF', of: whereOf },
    ]);
  }
  await out.write('\n');
  await printTable(out, steps, [
    { title: 'STEP', of: ({ namespace }) => namespace },
    { title: 'ID', of: ({ id }) => id },
    { title: 'LINES', of: ({ code }) => code?.split('\n').length },
  ]);
}

function whereOf(trigger: Trigger): string {
  if (trigger.endpoint_url !== undefined) return trigger.endpoint_url;
  if (trigger.cron !== undefined) return `${trigger.cron}${trigger.timezone ? ` ${trigger.timezone}` : ''}`;
  if (trigger.interval_seconds !== undefined) return `every ${trigger.interval_seconds} s`;
  return `${trigger.source_id ?? trigger.emitter_id ?? ''} ${trigger.event_name ?? ''}`.trim();
}

function addCode(workflows: Command, connect: Connect): void {
  const code = serverCommand(workflows, 'code <id> [step]', 'the code of a step; none named: of all');
  withExamples(code, 'errand workflows code "Charge orders" charge > charge.ts');
  code.action(async (given: string, step: string | undefined, options: ServerOptions) => {
    const { errand, out, isJson } = await connect(options);
    const { data } = await errand.getWorkflow({ id: await findId(errand, 'workflow', given) });
    const steps = data.steps.filter(({ namespace, id }) => step === undefined || namespace === step || id === step);
    if (steps.length === 0) throw new CliError(`${given} has no step "${step}"`, EXIT.notFound);
    if (isJson) return printJson(out, steps);
    for (const { namespace, code: text = '' } of steps) {
      const head = steps.length > 1 ? `// ${namespace}\n` : '';
      // Into a file it goes as it is.
      await out.write(`${head}${out.isTerminal ? safeLines(text).join('\n') : text}${text.endsWith('\n') ? '' : '\n'}`);
    }
  });
}

interface RunOptions extends ServerOptions, Waiting {
  readonly event?: string;
  readonly data?: string;
}

function addRun(workflows: Command, connect: Connect): void {
  const run = waitOption(serverCommand(workflows, 'run <id>', 'run a workflow with an event'))
    .option('--event <file>', 'JSON file with the event; - is standard input')
    .option('--data <json>', 'the event as JSON; or @ and the name of a file, as with curl');
  withExamples(
    run,
    `errand workflows run "Charge orders" --data '{"order": 7}'`,
    'errand workflows run "Charge orders" --event event.json --wait',
  );
  run.action(async (given: string, options: RunOptions) => {
    const bodyText = `{"event":${(await eventTextOf(options)) ?? '{}'}}`;
    const remote = await connect(options);
    const { errand, out, isJson } = remote;
    const id = await findId(errand, 'workflow', given);
    // The text is sent in the place of the member: its numbers stay as they are.
    const { data } = await errand.runWorkflow({ id, event: null }, { bodyText });
    if (options.wait && data.run_id !== null) return printRun(remote, await runToEnd(remote, data.run_id));
    if (isJson) return printJson(out, data);
    await printFields(out, { run: data.run_id });
    out.note(`See what became of it: errand runs show ${data.run_id}`);
  });
}

/** Returns the text of the event that options give; null: they give none. */
export async function eventTextOf({
  event: file,
  data,
}: {
  readonly event?: string;
  readonly data?: string;
}): Promise<string | null> {
  if (file !== undefined && data !== undefined)
    throw new CliError('--event and --data each are the event: give one of them', EXIT.usage);
  if (file !== undefined) return readJsonText(file);
  return data === undefined ? null : readData(data);
}

function addDeployments(workflows: Command, connect: Connect): void {
  serverCommand(workflows, 'deployments <id>', 'list the deployments of a workflow, newest first').action(
    async (given: string, options: ServerOptions) => {
      const { errand, out, isJson } = await connect(options);
      const { data } = await errand.listDeployments({ id: await findId(errand, 'workflow', given) });
      if (isJson) return printJson(out, data);
      await printTable(out, data, [
        { title: 'ID', of: ({ id }) => id },
        { title: 'ACTIVE', of: ({ active }) => (active ? 'yes' : '') },
        timeColumn('CREATED', ({ created_at: s }) => msOf(s)),
        { title: 'STEPS', of: ({ steps }) => steps.map(({ namespace }) => namespace).join(', ') },
      ]);
    },
  );
  serverCommand(
    workflows,
    'activate <id> <deployment_id>',
    'roll back, or forward: run this deployment from now on',
  ).action(async (given: string, deployment: string, options: ServerOptions) => {
    const { errand, out, isJson } = await connect(options);
    const id = await findId(errand, 'workflow', given);
    const deploymentId = await findDeployment(errand, id, deployment);
    const { data } = await errand.activateDeployment({ id, deployment_id: deploymentId });
    if (isJson) return printJson(out, data);
    await printFields(out, { workflow: id, deployment: deploymentId });
  });
}
