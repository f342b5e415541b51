// The scripts that complete command lines in shells. Commands, options and words of options stand in them, and hold nothing that a
// shell would read; names come from `errand completion --names`, and are never evaluated.

import type { Argument, Command, Option } from 'commander';

/** What is named as the argument of a command, by its first words → a kind of `--names`. */
const KIND_OF: Readonly<Record<string, string>> = {
  ...{
    workflows: 'workflow',
    variables: 'workflow',
    sources: 'source',
    webhooks: 'webhook',
    channels: 'channel',
    heartbeats: 'heartbeat',
    'data-stores': 'data-store',
    accounts: 'account',
  },
  ...{ owners: 'owner', keys: 'key', subscriptions: 'workflow', 'subscriptions delete': 'subscription', runs: 'run' },
  ...{ errors: 'error', 'errors groups': 'group', deliveries: 'delivery', mail: 'mail', operations: 'operation' },
  ...{ events: 'source', listen: 'webhook', trigger: 'workflow', 'profiles use': 'profile', logout: 'profile' },
};
const NAMED_ARGUMENT = /^(id|ids|owner|owner_id|key_id|webhook|from|name|profile)$/;

const KIND_OF_OPTION: Readonly<Record<string, string>> = {
  ...{ '--workflow': 'workflow', '--source': 'source', '--of': 'workflow', '--group': 'group', '--webhook': 'webhook' },
  ...{ '--from': 'workflow', '--to': 'webhook', '--owner': 'owner', '--by-key': 'key', '--after': 'error' },
  '--error': 'error',
  '--channel': 'channel',
  '--account': 'account',
};

function kindOfArgument(words: string, argument: Argument | undefined): string | undefined {
  if (!argument || !NAMED_ARGUMENT.test(argument.name())) return undefined;
  const parts = words.split(' ').slice(1);
  return KIND_OF[parts.slice(0, 2).join(' ')] ?? KIND_OF[parts[0] ?? ''];
}

function kindOfOption({ long, flags }: Option): string | undefined {
  if (long === '--profile') return 'profile';
  return flags.endsWith(' <id>') ? KIND_OF_OPTION[long ?? ''] : undefined;
}

interface Place {
  /** All words of the command, from `errand` on. */
  readonly path: string;
  readonly words: readonly string[];
  readonly options: readonly Option[];
  /** Of its first argument. */
  readonly kind: string | undefined;
}

/** Returns what may follow the words of each command: its commands, its options, names. */
function placesOf(command: Command, path = 'errand'): Place[] {
  const names = command.commands.map((sub) => sub.name());
  const options = command.options.flatMap(({ long }) => long ?? []);
  const own: Place = {
    path,
    words: [...names, ...options, '--help'],
    options: command.options,
    kind: kindOfArgument(path, command.registeredArguments[0]),
  };
  return [own, ...command.commands.flatMap((sub) => placesOf(sub, `${path} ${sub.name()}`))];
}

/** A shell whose start loads no completions has no `compdef`, which `complete` needs. */
const ZSH = `(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
autoload -U +X bashcompinit && bashcompinit
`;

// Names are compared and listed as they are: `compgen -W` would run what stands in them.
const NAMES = `_errand_names() {
  local name word="$2" profile=() i
  word="\${word#[\\"\\']}"
  word="\${word//\\\\/}"
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${COMP_WORDS[i]}" in
      --url | --key) return ;;
      --profile) [[ $((i + 1)) -lt $COMP_CWORD ]] && profile=(--profile "\${COMP_WORDS[i + 1]}") ;;
    esac
  done
  while IFS= read -r name; do
    [[ "$name" == "$word"* ]] && COMPREPLY+=("$name")
  done < <("\${COMP_WORDS[0]}" completion --names "$1" "\${profile[@]}" 2>/dev/null </dev/null)
  compopt -o filenames 2>/dev/null
}
`;

/** Returns the script for bash; zsh runs scripts for bash. */
export function bashScript(program: Command, shell: 'bash' | 'zsh'): string {
  const places = placesOf(program);
  const steps = places.slice(1).map(({ path }) => `      '${path}') at="$at $word" ;;\n`);
  const values = places.flatMap(({ path, options }) => options.flatMap((option) => valueCase(path, option)));
  const cases = places.map(({ path, words, kind }) => {
    const names = kind === undefined ? '' : ` kind=${kind}`;
    return `    '${path}') words='${words.join(' ')}'${names} ;;\n`;
  });
  return `${shell === 'zsh' ? ZSH : ''}${NAMES}_errand() {
  local at=errand words='' word i kind=''
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    case "$at $word" in
${steps.join('')}    esac
  done
  word="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  case "$at \${COMP_WORDS[COMP_CWORD - 1]}" in
${values.join('')}  esac
  case "$at" in
${cases.join('')}  esac
  [[ -n "$kind" && "$word" != -* ]] && _errand_names "$kind" "$word"
  COMPREPLY+=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _errand errand
`;
}

/** Returns what an option's value is completed to. */
function valueCase(path: string, option: Option): string[] {
  const { long, argChoices: choices } = option;
  if (choices)
    return [`    '${path} ${long}') COMPREPLY=($(compgen -W '${choices.join(' ')}' -- "$word")); return ;;\n`];
  const kind = kindOfOption(option);
  return kind === undefined ? [] : [`    '${path} ${long}') _errand_names ${kind} "$word"; return ;;\n`];
}

const fishNames = (kind: string): string => `-f -a '(errand completion --names ${kind} 2>/dev/null </dev/null)'`;

export function fishScript(program: Command): string {
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
    const named = kindOfArgument(['errand', ...path].join(' '), command.registeredArguments[0]);
    if (named !== undefined) lines.push(`complete -c errand -n '${isHere}' ${fishNames(named)}`);
    for (const option of command.options) {
      const { long, description, argChoices: choices } = option;
      if (!long) continue;
      const kind = kindOfOption(option);
      const valued = choices ? ` -x -a '${choices.join(' ')}'` : kind === undefined ? '' : ` -r ${fishNames(kind)}`;
      lines.push(`complete -c errand -n '${isHere}' -l ${long.slice(2)}${valued} -d '${quoted(description)}'`);
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
