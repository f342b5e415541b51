// errand config: every setting of a server, its value and its default.

import type { Command } from 'commander';
import type { Setting } from '../client/client.ts';
import { readConfig } from '../server/config.ts';
import { withExamples } from './shell/examples.ts';
import { createOutput, printJson, printTable } from './shell/output.ts';
import { type Connect, localOption, orLocal, type ServerOptions, serverCommand } from './shell/remote.ts';

interface ConfigOptions extends ServerOptions {
  readonly local?: true;
}

export function addConfig(program: Command, connect: Connect, env: NodeJS.ProcessEnv): void {
  const config = localOption(
    serverCommand(program, 'config', 'the settings of a server with their defaults, without what is secret'),
  );
  withExamples(config, 'errand config', 'errand config --profile prod', 'errand config --local');
  config.action(async (options: ConfigOptions) => {
    const { settings, of } = (options.local ? null : await there(connect, options)) ?? here(env, options);
    const out = createOutput();
    if (options.json) return printJson(out, settings);
    out.note(`settings of ${of}`);
    await printTable(out, settings, [
      { title: 'SETTING', of: ({ name }) => name, isWhole: true },
      { title: 'VALUE', of: (one) => shownValue(one) },
      { title: 'DEFAULT', of: (one) => one.default },
      { title: 'WHAT', of: ({ about }) => about },
    ]);
  });
}

const shownValue = ({ value, secret, set }: Setting): string => value ?? (secret && set ? '(set, secret)' : '(none)');

interface Shown {
  readonly settings: readonly Setting[];
  readonly of: string;
}

function here(env: NodeJS.ProcessEnv, { local }: ConfigOptions): Shown {
  const settings = readConfig(env).shown.map(({ fallback, isSet: set, isSecret: secret, ...rest }) => {
    return { ...rest, default: fallback, set, secret };
  });
  return {
    settings,
    of: `this shell's environment: ${local ? 'no server was asked' : 'no server runs on the data dir here'}`,
  };
}

/** Returns null where no server is named, and none runs. */
async function there(connect: Connect, options: ConfigOptions): Promise<Shown | null> {
  const remote = await orLocal(connect(options));
  return remote && { settings: (await remote.errand.listSettings()).data, of: remote.url };
}
