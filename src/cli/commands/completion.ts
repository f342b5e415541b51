// errand completion bash | zsh | fish: a script that completes commands and options, made from the commands themselves.

import { type Command, InvalidArgumentError } from 'commander';
import { withExamples } from '../shell/examples.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

export function addCompletion(program: Command): void {
  const completion = program
    .command('completion')
    .description('print a script that completes commands and options in a shell')
    .argument('<shell>', 'bash, zsh or fish', (text: string): Shell => {
      const shell = SHELLS.find((one) => one === text);
      if (shell) return shell;
      throw new InvalidArgumentError('It is bash, zsh or fish.');
    });
  withExamples(
    completion,
    'source <(errand completion bash)',
    'errand completion fish > ~/.config/fish/completions/errand.fish',
  );
  completion.action((shell: Shell) => {
    process.stdout.write(shell === 'fish' ? fishScript(program) : bashScript(program, shell));
  });
}

/** Returns what may follow the words of each command: its commands, and its options. */
function wordsOf(command: Command, path = 'errand'): [path: string, words: readonly string[]][] {
  const names = command.commands.map((sub) => sub.name());
  const options = command.options.flatMap(({ long }) => long ?? []);
  const own: [string, readonly string[]] = [path, [...names, ...options, '--help']];
  return [own, ...command.commands.flatMap((sub) => wordsOf(sub, `${path} ${sub.name()}`))];
}

/** A shell whose start loads no completions has no `compdef`, which `complete` needs. */
const ZSH = `(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
autoload -U +X bashcompinit && bashcompinit
`;

/**
 * Returns the script for bash; zsh runs scripts for bash. The names of commands and options hold nothing that a shell would
 * read.
 */
function bashScript(program: Command, shell: 'bash' | 'zsh'): string {
  const cases = wordsOf(program).map(([path, words]) => `    '${path}') words='${words.join(' ')}' ;;\n`);
  return `${shell === 'zsh' ? ZSH : ''}_errand() {
  local at=errand words='' word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    case "$at $word" in
${wordsOf(program)
  .slice(1)
  .map(([path]) => `      '${path}') at="$at $word" ;;\n`)
  .join('')}    esac
  done
  case "$at" in
${cases.join('')}  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _errand errand
`;
}

function fishScript(program: Command): string {
  // Files stay among the completions where no command may follow: of "errand deploy", for instance.
  const lines: string[] = [];
  const add = (command: Command, path: readonly string[]): void => {
    const seen = path.map((word) => `__fish_seen_subcommand_from ${word}`);
    const names = command.commands.map((sub) => sub.name());
    const isHere = [...seen, ...(names.length > 0 ? [`not __fish_seen_subcommand_from ${names.join(' ')}`] : [])].join(
      '; and ',
    );
    for (const sub of command.commands) {
      lines.push(`complete -c errand -f -n '${isHere}' -a ${sub.name()} -d '${quoted(sub.description())}'`);
    }
    for (const { long, description } of command.options) {
      if (long) lines.push(`complete -c errand -n '${isHere}' -l ${long.slice(2)} -d '${quoted(description)}'`);
    }
    lines.push(`complete -c errand -n '${isHere}' -l help -d 'show what the command takes'`);
    for (const sub of command.commands) add(sub, [...path, sub.name()]);
  };
  add(program, []);
  return `${lines.join('\n')}\n`;
}

function quoted(text: string): string {
  return text.replace(/[\\']/g, '\\$&');
}
