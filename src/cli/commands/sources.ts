// errand sources list | show | run | logs | enable | disable | delete

import type { Command } from 'commander';
import type { SourceWhole } from '../../client/client.ts';
import { withExamples } from '../shell/examples.ts';
import { findId } from '../shell/find.ts';
import { addActing, addDeleting, addListing, type Fields, type Limited } from '../shell/listing.ts';
import { printFields, printJson, stateStyle } from '../shell/output.ts';
import { type Connect, type ServerOptions, serverCommand } from '../shell/remote.ts';
import { safeLines, secondsText } from '../shell/text.ts';
import { runToEnd, type Waiting, waitOption } from '../shell/waiting.ts';
import { printRun } from './runs.ts';

const fields = (source: SourceWhole): Fields => ({
  source: source.id,
  name: source.name,
  active: source.active ? 'yes' : 'no',
  of: source.component ?? source.component_path,
  address: source.endpoint_url,
  props: JSON.stringify(source.configured_props),
  'skipped ticks': source.skipped_ticks,
  created: secondsText(source.created_at),
  changed: secondsText(source.updated_at),
});

export function addSources(program: Command, connect: Connect): void {
  const sources = program.command('sources').description('event sources');
  addListing<SourceWhole, Limited>(sources, connect, {
    description: 'list sources, newest first',
    none: 'no sources',
    columns: [
      { title: 'ID', of: ({ id }) => id },
      { title: 'ACTIVE', of: ({ active }) => (active ? 'yes' : 'no') },
      { title: 'OF', of: ({ component, component_path: path }) => component ?? path },
      { title: 'NAME', of: ({ name }) => name },
    ],
    list: (errand) => errand.listSources(),
  });
  addActing(sources, connect, {
    ...{ kind: 'source', name: 'show', description: 'show a source: its props and its address', fields },
    act: async (errand, id) => (await errand.getSource({ id })).data,
  });
  addRun(sources, connect);
  addLogs(sources, connect);
  for (const active of [true, false]) {
    addActing(sources, connect, {
      ...{ kind: 'source', name: active ? 'enable' : 'disable', fields },
      description: active ? 'enable a source' : 'disable a source: it emits nothing',
      act: async (errand, id) => (await errand.updateSource({ id, active })).data,
    });
  }
  addDeleting(sources, connect, {
    ...{ kind: 'source', description: 'delete a source with its subscriptions', fields },
    act: async (errand, id) => (await errand.deleteSource({ id })).data,
  });
}

function addRun(sources: Command, connect: Connect): void {
  const run = waitOption(serverCommand(sources, 'run <id>', 'run a source now, as its timer would'));
  withExamples(run, 'errand sources run "Orders feed"', 'errand sources run "Orders feed" --wait');
  run.action(async (given: string, options: ServerOptions & Waiting) => {
    const remote = await connect(options);
    const { data } = await remote.errand.invokeSource({ id: await findId(remote.errand, 'source', given) });
    if (options.wait && data.run_id) return printRun(remote, await runToEnd(remote, data.run_id));
    if (remote.isJson) return printJson(remote.out, data);
    await printFields(remote.out, { run: data.run_id });
  });
}

function addLogs(sources: Command, connect: Connect): void {
  const logs = serverCommand(sources, 'logs <id>', 'show the logs of a source, oldest first');
  withExamples(logs, 'errand sources logs "Orders feed"');
  logs.action(async (given: string, options: ServerOptions) => {
    const { errand, out, isJson } = await connect(options);
    const { data } = await errand.listSourceLogs({ id: await findId(errand, 'source', given) });
    if (isJson) return printJson(out, data);
    if (data.length === 0) return out.note('it has printed nothing');
    for (const { ts_ms: ms, level, text } of [...data].reverse()) {
      const style = stateStyle(level);
      for (const line of safeLines(text)) {
        await out.write(`${out.style('dim', new Date(ms).toISOString())} ${style ? out.style(style, line) : line}\n`);
      }
    }
  });
}
