// errand privacy list | set | preview: what is hidden wherever events and messages are shown.

import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import type { Command } from 'commander';
import type { Errand } from '../../client/client.ts';
import { NO_REDACTION, type RedactionRules, unionOf } from '../../domain/privacy/rules.ts';
import { confirm } from '../shell/ask.ts';
import { withExamples } from '../shell/examples.ts';
import { CliError, EXIT } from '../shell/exit.ts';
import { findId } from '../shell/find.ts';
import { printJson, printTable } from '../shell/output.ts';
import { type Connect, type Remote, type ServerOptions, serverCommand } from '../shell/remote.ts';

/** Returns an event with what the rules hide replaced. Throws an Error for a pattern that cannot be used. */
export type Redact = (rules: RedactionRules, event: Uint8Array) => Promise<Uint8Array>;

interface PlaceOptions extends ServerOptions {
  readonly workflow?: string;
}

interface RuleOptions extends PlaceOptions {
  readonly hide?: readonly string[];
  readonly pattern?: readonly string[];
}

interface SetOptions extends RuleOptions {
  readonly add?: true;
  readonly clear?: true;
  /** `--no-before-storing`: false. */
  readonly beforeStoring?: boolean;
  readonly yes?: true;
}

/** Rules of the owner, or of a workflow. */
interface Place extends RedactionRules {
  readonly of: string;
  readonly before_storing?: boolean;
}

export function addPrivacy(program: Command, connect: Connect, redact: Redact): void {
  const privacy = program
    .command('privacy')
    .description('list, set and preview the redaction rules for events and messages');
  addList(privacy, connect);
  addSet(privacy, connect);
  addPreview(privacy, connect, redact);
}

const workflowOption = ['--workflow <id>', 'the rules of this workflow, which hold beside your own'] as const;

function ruleOptions(command: Command): Command {
  return command
    .option('--hide <names...>', 'names of fields whose values are hidden; * matches any characters')
    .option('--pattern <expressions...>', 'regular expressions (RE2) whose matches are hidden');
}

function addList(privacy: Command, connect: Connect): void {
  const list = serverCommand(privacy, 'list', 'list your rules; with --workflow, also those of a workflow').option(
    ...workflowOption,
  );
  withExamples(list, 'errand privacy list', 'errand privacy list --workflow "Charge orders"');
  list.action(async (options: PlaceOptions) => show(await connect(options), options));
}

async function show({ errand, out, isJson }: Remote, { workflow }: PlaceOptions): Promise<void> {
  const places = await placesOf(errand, workflow);
  if (isJson) return printJson(out, places);
  const rows = places.flatMap(({ of, keys, patterns }) => [
    ...keys.map((rule) => ({ of, what: 'member', rule })),
    ...patterns.map((rule) => ({ of, what: 'pattern', rule })),
  ]);
  const stored = places.find(({ before_storing: isStored }) => isStored);
  if (stored) out.note(`${stored.of}: hidden before it is stored`);
  if (rows.length === 0) return out.note('nothing is hidden');
  await printTable(out, rows, [
    { title: 'OF', of: ({ of }) => of },
    { title: 'HIDES', of: ({ what }) => what },
    { title: 'RULE', of: ({ rule }) => rule },
  ]);
}

async function placesOf(errand: Errand, workflow: string | undefined): Promise<Place[]> {
  const own = { of: 'everything', ...(await errand.getRedaction()).data };
  if (workflow === undefined) return [own];
  const id = await findId(errand, 'workflow', workflow);
  return [own, { of: id, ...(await errand.getWorkflowRedaction({ id })).data }];
}

function addSet(privacy: Command, connect: Connect): void {
  const set = ruleOptions(
    serverCommand(privacy, 'set', 'set the rules; asks for confirmation before it removes existing ones').option(
      ...workflowOption,
    ),
  )
    .option('--add', 'add to the existing rules')
    .option('--clear', 'remove all rules')
    .option('--before-storing', 'for a workflow: also hide it in what is stored; its errors can then not be replayed')
    .option('--no-before-storing', 'for a workflow: store events as they arrived')
    .option('--yes', 'do not ask for confirmation');
  withExamples(
    set,
    "errand privacy set --hide password '*token' --pattern '\\b\\d{13,19}\\b'",
    'errand privacy set --add --hide iban --workflow "Charge orders"',
    'errand privacy set --clear --yes',
  );
  set.action(async (options: SetOptions) => {
    checkSet(options);
    const remote = await connect(options);
    const { errand, url } = remote;
    const before = (await placesOf(errand, options.workflow)).at(-1);
    const kept = options.add ? (before ?? NO_REDACTION) : NO_REDACTION;
    const given = { keys: options.hide ?? [], patterns: options.pattern ?? [] };
    const hasRules = options.clear || given.keys.length + given.patterns.length > 0;
    const after = hasRules ? unionOf([kept, given]) : unionOf([before ?? NO_REDACTION]);
    const gone = goneIn(before ?? NO_REDACTION, after);
    if (gone.length > 0) await confirm(`Show what ${gone.join(', ')} hid again, on ${url}?`, options.yes);
    const { keys, patterns } = { keys: [...after.keys], patterns: [...after.patterns] };
    if (options.workflow === undefined) await errand.setRedaction({ keys, patterns });
    else {
      const id = before?.of ?? '';
      const stored = options.beforeStoring ?? before?.before_storing;
      await errand.setWorkflowRedaction({ id, keys, patterns, before_storing: stored });
    }
    await show(remote, options);
  });
}

function checkSet({ hide, pattern, add, clear, beforeStoring, workflow }: SetOptions): void {
  const hasRules = hide !== undefined || pattern !== undefined;
  if (clear && (hasRules || add)) throw new CliError('--clear takes all rules away: leave the others out', EXIT.usage);
  if (beforeStoring !== undefined && workflow === undefined)
    throw new CliError('--before-storing is for one workflow: name it with --workflow', EXIT.usage);
  if (!hasRules && !clear && beforeStoring === undefined)
    throw new CliError('say what to hide, with --hide or --pattern, or --clear', EXIT.usage);
}

function goneIn(before: RedactionRules, after: RedactionRules): string[] {
  const kept = new Set([...after.keys, ...after.patterns]);
  return [...before.keys, ...before.patterns].filter((rule) => !kept.has(rule)).map((rule) => JSON.stringify(rule));
}

interface PreviewOptions extends RuleOptions {
  readonly event?: string;
  readonly error?: string;
}

function addPreview(privacy: Command, connect: Connect, redact: Redact): void {
  const preview = ruleOptions(
    serverCommand(privacy, 'preview', 'show an event as the rules, with those given here, would leave it').option(
      ...workflowOption,
    ),
  )
    .option('--event <file>', 'JSON file with the event; - is standard input')
    .option('--error <id>', 'use the event of this error; "last": the newest');
  withExamples(
    preview,
    'errand privacy preview --event event.json',
    "errand privacy preview --error last --hide '*card*'",
  );
  preview.action(async (options: PreviewOptions) => {
    if ((options.event === undefined) === (options.error === undefined))
      throw new CliError('give an event with --event, or an error with --error', EXIT.usage);
    const { errand, out } = await connect(options);
    const rules = unionOf([
      ...(await placesOf(errand, options.workflow)),
      { keys: options.hide ?? [], patterns: options.pattern ?? [] },
    ]);
    const event = options.event === undefined ? await eventOf(errand, options.error ?? '') : await read(options.event);
    const shown = await redact(rules, event).catch((error: Error) => {
      throw new CliError(`--pattern: ${error.message}`, EXIT.usage);
    });
    await out.write(`${Buffer.from(shown).toString()}\n`);
  });
}

/** Returns the event as it is shown now: what is hidden already does not come here. */
async function eventOf(errand: Errand, error: string): Promise<Uint8Array> {
  const fixture = await errand.getErrorFixture({ record_id: await findId(errand, 'error', error) });
  const { original_event_text: text, original_event_base64: base64 } = fixture;
  return text === undefined || text === null ? Buffer.from(base64 ?? '', 'base64') : Buffer.from(text);
}

async function read(file: string): Promise<Uint8Array> {
  return (file === '-' ? buffer(process.stdin) : readFile(file)).catch((error: Error) => {
    throw new CliError(`${file} cannot be read: ${error.message}`, EXIT.usage);
  });
}
