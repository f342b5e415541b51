// Runs commands one after the other in a process of its own, as if at a terminal or not, and tells its parent what each wrote.
// Its argument is what `Asked` says, as JSON.

import { setTimeout as pause } from 'node:timers/promises';
import { createProgram, type ProgramDeps } from '../../src/cli/program.ts';
import { administrationOver } from '../../src/cli/remote-administration.ts';
import { createConnect } from '../../src/cli/shell/remote.ts';
import { Errand } from '../../src/client/client.ts';

export interface Asked {
  readonly url: string;
  readonly key: string;
  readonly isTerminal: boolean;
  readonly commands: readonly (readonly string[])[];
  /** Commands that go on: they are left when they have written something. */
  readonly endless: readonly string[];
}

export interface Written {
  readonly args: readonly string[];
  readonly text: string;
  /** Why it ended otherwise. */
  readonly error: string | null;
}

const { url, key, isTerminal, commands, endless } = JSON.parse(process.argv[2] ?? '') as Asked;
const at = { url, key };
const env = { ERRAND_API_KEY: key };

const findLocal = async () => at;
const whyHidden = () => null;
const connect = createConnect({ env, findLocal, whyHidden });

const deps = {
  env,
  findLocal,
  whyHidden,
  administer: (_options, act) => act(administrationOver(new Errand(at))),
  deploying: {
    connect,
    list: async () => ['a.mjs'],
    bundle: async () => ({ kind: 'source', bundle: 'export default {}', sourceMap: '{}' }),
    idsOf: async () => ({ workflow: 'p_1', source: 'dc_1' }),
    complain: () => undefined,
  },
} as Partial<ProgramDeps> as ProgramDeps;

let text = '';
for (const stream of [process.stdout, process.stderr]) {
  Object.defineProperty(stream, 'isTTY', { value: isTerminal });
  Object.defineProperty(stream, 'columns', { value: 100 });
  stream.write = ((part: string | Uint8Array, ...more: unknown[]): boolean => {
    text += typeof part === 'string' ? part : Buffer.from(part).toString();
    for (const done of more) if (typeof done === 'function') done();
    return true;
  }) as typeof stream.write;
}

async function run(args: readonly string[]): Promise<Written> {
  text = '';
  const ended = createProgram(deps)
    .parseAsync([...args], { from: 'user' })
    .then(
      () => null,
      (error: Error) => error.stack ?? error.message,
    );
  if (!endless.includes(args.slice(0, 2).join(' '))) return { args, error: await ended, text };
  const until = async (): Promise<null> => {
    while (!text.includes('\n')) await pause(10);
    return null;
  };
  return { args, error: await Promise.race([ended, until()]), text };
}

for (const args of commands) {
  const written = await run(args);
  await new Promise((sent) => process.send?.(written, sent));
}
process.exit(0);
