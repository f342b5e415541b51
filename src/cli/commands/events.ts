// errand events list | show | tail

import type { Command } from 'commander';
import { type Errand, type EventRecord, type EventWhole, type Page, type Paged, textOf } from '../../client/client.ts';
import { exactJson } from '../../domain/bytes.ts';
import { withExamples } from '../shell/examples.ts';
import { CliError, EXIT } from '../shell/exit.ts';
import { findEmitter } from '../shell/find.ts';
import { exactDataOf, exactIn } from '../shell/json-text.ts';
import { tellingOutages } from '../shell/outlast.ts';
import {
  type Column,
  printFields,
  printFirst,
  printJson,
  printLine,
  printTable,
  stateStyle,
  timeColumn,
} from '../shell/output.ts';
import { type Connect, type Remote, type ServerOptions, serverCommand } from '../shell/remote.ts';
import { fit, jsonText, oneLine, timeText } from '../shell/text.ts';
import { countValue, LIST_LIMIT, recordValue, take } from '../shell/values.ts';

/** Of an event on one line. */
const LINE_CHARS = 400;
/** Of an event, in a terminal. */
const SHOWN_LINES = 40;
/** Whatever emits. */
const ALL = '*';

/** Returns an event on one line; of a long one, its beginning. */
function eventLine({ event }: Pick<EventRecord, 'event'>): string {
  return fit(oneLine(jsonText(event) ?? ''), LINE_CHARS);
}

const COLUMNS: readonly Column<EventRecord>[] = [
  timeColumn('TIME', ({ indexed_at_ms: ms }) => ms),
  { title: 'ID', of: ({ id }) => id },
  { title: 'NAME', of: ({ metadata }) => metadata.event_name ?? metadata.name },
  timeColumn('DUE', ({ metadata: { delivery_ts: ms } }) => ms),
  { title: 'SUMMARY', of: ({ metadata }) => metadata.summary },
  { title: 'EVENT', of: eventLine },
];

export function addEvents(program: Command, connect: Connect): void {
  const events = program
    .command('events')
    .description('list, show and follow what workflows, sources and heartbeats emit');
  addList(events, connect);
  addShow(events, connect);
  addTail(events, connect);
}

interface ListOptions extends ServerOptions {
  readonly event?: string;
  readonly limit: number;
}

function addList(events: Command, connect: Connect): void {
  const list = serverCommand(events, 'list <id>', 'list the newest events of a workflow, source or heartbeat')
    .option(
      '--event <name>',
      'only events with this name; $in: what a source emits later; default: events without a name',
    )
    .option('--limit <n>', 'how many to show; 0: all', countValue(0), LIST_LIMIT);
  withExamples(list, 'errand events list "Orders feed"', 'errand events list "Charge orders" --event charged --json');
  list.action(async (given: string, { event, limit, ...options }: ListOptions) => {
    const { errand, out, isJson } = await connect(options);
    const id = await findEmitter(errand, given);
    const listed = eventsOf(errand, { id, event_name: event, expand: 'event' });
    const taken = await take<EventRecord>(exactIn(listed, 'event'), limit);
    if (isJson) return printJson(out, taken.records);
    if (taken.records.length === 0) return out.note('no events');
    await printFirst(out, taken, COLUMNS);
  });
}

interface Listed {
  readonly id: string;
  readonly event_name: string | undefined;
  readonly expand: 'event';
}

type EventPage = Page & { readonly data: readonly EventRecord[] };

/** Asks for the events of an emitter. Throws `CliError` for a webhook, which emits errors alone. */
function eventsOf(errand: Errand, asked: Listed): Paged<EventPage> {
  if (asked.id.startsWith('p_')) return errand.listWorkflowEvents(asked);
  if (asked.id.startsWith('dc_')) return errand.listSourceEvents(asked);
  if (asked.id.startsWith('hb_')) return errand.listHeartbeatEvents(asked);
  throw new CliError(`webhooks emit errors alone: errand errors list --of ${asked.id}`, EXIT.usage);
}

function addShow(events: Command, connect: Connect): void {
  const show = serverCommand(
    events,
    'show <event>',
    'one event, and who got it; by its id, or by what its sender got in the answer',
  );
  withExamples(show, 'errand events show 1782000000123-0');
  show.action(async (id: string, options: ServerOptions) => {
    const { errand, out, isJson } = await connect(options);
    const answer = await errand.getEvent({ id, expand: 'event' });
    const exact = exactDataOf(answer);
    if (isJson) return printJson(out, exact);
    await showEvent(out, answer.data, exact.event);
  });
}

async function showEvent(out: Remote['out'], whole: EventWhole, event: unknown): Promise<void> {
  const { id, indexed_at_ms: ms, metadata, receipts } = whole;
  await printFields(out, {
    ...{ event: id, time: timeText(ms), 'emitted by': metadata.emitter_id, name: metadata.name },
    ...{ 'emit id': metadata.emit_id, 'id of the source': metadata.id, summary: metadata.summary },
  });
  const lines = (jsonText(event, 2) ?? '').split('\n');
  // A file gets all of it.
  const shown = out.isTerminal ? lines.slice(0, SHOWN_LINES) : lines;
  const more = lines.length - shown.length;
  const cut = more === 0 ? '' : `… ${more} more lines: --json prints all\n`;
  await out.write(`\n${out.style('bold', 'Event')}\n${shown.join('\n')}\n${cut}`);
  if (receipts.length === 0) return;
  await out.write(`\n${out.style('bold', 'Sent to')}\n`);
  await printTable(out, receipts, [
    { title: 'KIND', of: ({ kind }) => kind },
    { title: 'ID', of: ({ id }) => id },
    { title: 'LISTENER', of: ({ listener_id: listener }) => listener },
    { title: 'STATE', of: ({ state }) => state, style: stateStyle },
    { title: 'REASON', of: ({ reason }) => reason },
  ]);
}

interface TailOptions extends ServerOptions {
  readonly event: string;
  readonly after?: string;
}

function addTail(events: Command, connect: Connect): void {
  const tail = serverCommand(events, 'tail [id]', 'events as they come, until Ctrl-C; with --json one a line')
    .option('--event <name>', 'only events with this name; *: all but errors', ALL)
    .option('--after <event>', 'start after this event, with those that followed it', recordValue);
  withExamples(tail, 'errand events tail', 'errand events tail "Orders feed" --json | jq .event');
  tail.action(async (given: string | undefined, { event, after, ...options }: TailOptions) => {
    const { errand, out, isJson, url } = await connect(options);
    const id = given === undefined || given === ALL ? ALL : await findEmitter(errand, given);
    const outages = tellingOutages(out, `events of ${id === ALL ? url : id}, as they come; Ctrl-C ends it`);
    const stream = errand.streamEvents({ id, event_name: event }, { lastEventId: after, ...outages });
    for await (const one of stream) {
      if (one.kind === 'gap') {
        out.note(`errand: events behind ${one.after} may be missing: they are kept no more`);
        continue;
      }
      const exact = exactJson(textOf(one.data)) as EventRecord;
      if (isJson) await printLine(out, exact);
      else await out.write(`${lineOf(out, { ...one.data, event: exact.event })}\n`);
    }
  });
}

function lineOf(out: Remote['out'], record: EventRecord): string {
  const { id, indexed_at_ms: ms, metadata } = record;
  const said = [metadata.emitter_id, out.style('cyan', oneLine(metadata.name)), eventLine(record)];
  return `${out.style('dim', `${timeText(ms)} ${id}`)} ${said.filter((part) => part !== '').join(' ')}`;
}
