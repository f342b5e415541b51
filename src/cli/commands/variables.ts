// errand variables list | set | unset

import type { Command } from 'commander';
import type { Errand } from '../../client/client.ts';
import { askSecret } from '../shell/ask.ts';
import { withExamples } from '../shell/examples.ts';
import { CliError, EXIT } from '../shell/exit.ts';
import { findId } from '../shell/find.ts';
import { printFields, printJson, printTable } from '../shell/output.ts';
import { type Connect, type Remote, type ServerOptions, serverCommand } from '../shell/remote.ts';

type Values = Readonly<Record<string, string>>;

/** As the server takes them: a refusal would come after a person has typed a value. */
const NAME = /^[A-Za-z_]\w*$/;

export function addVariables(program: Command, connect: Connect): void {
  const variables = program
    .command('variables')
    .description('list, set and remove environment variables of a workflow, such as secrets');
  const list = serverCommand(variables, 'list <id>', 'list the variables of a workflow, without their values').option(
    '--values',
    'show their values, too',
  );
  withExamples(list, 'errand variables list "Charge orders"');
  list.action(async (given: string, { values: isShown, ...options }: ServerOptions & { readonly values?: true }) => {
    const { errand, out, isJson } = await connect(options);
    const values = await valuesOf(errand, await findId(errand, 'workflow', given));
    const all = Object.entries(values).map(([name, value]) => (isShown ? { name, value } : { name }));
    if (isJson) return printJson(out, all);
    if (all.length === 0) return out.note('no variables');
    await printTable<{ name: string; value?: string }>(out, all, [
      { title: 'NAME', of: ({ name }) => name, isWhole: true },
      { title: 'VALUE', of: ({ value }) => value },
    ]);
  });
  const set = serverCommand(
    variables,
    'set <id> <names...>',
    'set variables, from the next run on: NAME=value, or NAME alone, whose value is asked for or read from standard input',
  );
  withExamples(
    set,
    'errand variables set "Charge orders" REGION=eu',
    'errand variables set "Charge orders" CARD_KEY < card-key.txt',
  );
  set.action(async (given: string, named: readonly string[], options: ServerOptions) => {
    const pairs = named.map(pairOf);
    const asked = pairs.filter(([, value]) => value === null);
    if (asked.length > 1 && !process.stdin.isTTY)
      throw new CliError('standard input is the value of one variable: call the command once for each', EXIT.usage);
    const remote = await connect(options);
    const id = await findId(remote.errand, 'workflow', given);
    const env: Record<string, string> = {};
    for (const [name, value] of pairs) env[name] = value ?? (await askValue(name));
    await change(remote, id, env);
  });
  const unset = serverCommand(variables, 'unset <id> <names...>', 'remove variables, from the next run on');
  withExamples(unset, 'errand variables unset "Charge orders" REGION');
  unset.action(async (given: string, names: readonly string[], options: ServerOptions) => {
    const remote = await connect(options);
    const id = await findId(remote.errand, 'workflow', given);
    const values = await valuesOf(remote.errand, id);
    const missing = names.filter((name) => !Object.hasOwn(values, name));
    if (missing.length > 0) throw new CliError(`${given} has no variable ${missing.join(', ')}`, EXIT.notFound);
    await change(remote, id, Object.fromEntries(names.map((name) => [name, null])));
  });
}

async function valuesOf(errand: Errand, id: string): Promise<Values> {
  return (await errand.getWorkflow({ id })).data.settings.env;
}

/** Returns a variable; its value is null where it is to be asked for. */
function pairOf(text: string): readonly [name: string, value: string | null] {
  const at = text.indexOf('=');
  const name = at < 0 ? text : text.slice(0, at);
  if (NAME.test(name)) return [name, at < 0 ? null : text.slice(at + 1)];
  throw new CliError(`"${name}" is no name of a variable: it has letters, digits and underscores`, EXIT.usage);
}

/** Asks for a value, and refuses an empty one: where there is no standard input, it would replace the value that is set. */
async function askValue(name: string): Promise<string> {
  const value = await askSecret(`Value of ${name}: `);
  if (value !== '') return value;
  throw new CliError(`no value of ${name} was given: ${name}= sets an empty one`, EXIT.usage);
}

/** Changes these variables alone; null removes one. */
async function change({ errand, out, isJson }: Remote, id: string, env: Record<string, string | null>): Promise<void> {
  const { data } = await errand.patchWorkflow({ id, settings: { env } });
  const names = Object.keys(data.settings.env);
  if (isJson)
    return printJson(
      out,
      names.map((name) => ({ name })),
    );
  await printFields(out, { workflow: id, variables: names.join(', ') || 'none' });
}
