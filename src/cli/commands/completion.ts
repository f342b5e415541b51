// errand completion bash | zsh | fish: a script that completes commands and options, made from the commands themselves, and
// names of what is on the server, for which it calls `errand completion --names <kind>`.

import { setTimeout as pause } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { withExamples } from '../shell/examples.ts';
import { CliError, EXIT } from '../shell/exit.ts';
import { KINDS, type KindName } from '../shell/find.ts';
import { createOutput } from '../shell/output.ts';
import { readProfiles } from '../shell/profiles.ts';
import { type Connect, type ServerOptions, serverOptions } from '../shell/remote.ts';
import { oneLine } from '../shell/text.ts';
import { choiceOption, countValue, take } from '../shell/values.ts';
import { bashScript, fishScript } from './completion-scripts.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

const PROFILE = 'profile';
/** A person waits with a finger on the key. */
const ANSWER_MS = 2000;
const MOST = 100;

interface CompletionOptions extends ServerOptions {
  readonly names?: KindName | typeof PROFILE;
  readonly wait: number;
}

export function addCompletion(program: Command, connect: Connect): void {
  const completion = serverOptions(
    program
      .command('completion')
      .description('print a script that completes commands, options and names in a shell')
      .argument('[shell]', 'bash, zsh or fish', (text: string): Shell => {
        const shell = SHELLS.find((one) => one === text);
        if (shell) return shell;
        throw new InvalidArgumentError('It is bash, zsh or fish.');
      }),
  )
    .option('--wait <n>', 'give up on names after so many milliseconds', countValue(1), ANSWER_MS)
    .addOption(
      choiceOption('--names <kind>', 'print the names that a script completes, one a line', [
        ...Object.keys(KINDS),
        PROFILE,
      ]),
    );
  withExamples(
    completion,
    'source <(errand completion bash)',
    'source <(errand completion zsh)',
    'errand completion fish > ~/.config/fish/completions/errand.fish',
    'errand completion --names workflow',
  );
  completion.action(async (shell: Shell | undefined, { names: kind, wait, ...options }: CompletionOptions) => {
    const out = createOutput();
    if (kind !== undefined) {
      const over = pause(wait).then(() => []);
      const names = await Promise.race([namesOf(kind, options, connect), over]);
      await out.write(names.map((name) => `${name}\n`).join(''));
      // An answer that is late holds the shell no longer.
      process.exit();
    }
    if (shell === undefined) throw new CliError('name a shell: bash, zsh or fish', EXIT.usage);
    await out.write(shell === 'fish' ? fishScript(program) : bashScript(program, shell));
  });
}

/** Returns names, ids where there are none, and nothing where no server answers. */
async function namesOf(
  kind: KindName | typeof PROFILE,
  options: ServerOptions,
  connect: Connect,
): Promise<readonly string[]> {
  try {
    if (kind === PROFILE) return Object.keys((await readProfiles()).profiles);
    const { errand } = await connect(options);
    const list: AsyncIterable<{ readonly id: string; readonly name?: string | null }> = KINDS[kind].list(errand);
    return (await take(list, MOST)).records.map(({ id, name }) => (isPlain(name) ? name : id));
  } catch {
    return [];
  }
}

/** Returns whether a name can be put on a command line: others write names, too. */
function isPlain(name: string | null | undefined): name is string {
  return typeof name === 'string' && name.trim() !== '' && !name.startsWith('-') && oneLine(name) === name;
}
