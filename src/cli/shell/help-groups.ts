// The headings under which `errand --help` lists commands.

import type { Command } from 'commander';

const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'Write and try:': ['init', 'dev', 'start', 'deploy', 'test', 'trigger', 'listen'],
  'What happened:': ['errors', 'runs', 'events', 'deliveries', 'mail', 'operations'],
  'What there is:': [
    ...[
      'workflows',
      'variables',
      'sources',
      'webhooks',
      'subscriptions',
      'channels',
      'heartbeats',
      'accounts',
      'data-stores',
      'privacy',
    ],
  ],
  'Servers:': ['login', 'logout', 'profiles', 'whoami', 'owners', 'keys', 'audit', 'config', 'doctor', 'explain-url'],
  'Store:': ['store', 'verify'],
  'More:': ['import', 'components', 'completion', 'mcp', 'help'],
};

const FOOTER = `
Examples:
  $ errand init my-workflows
  $ errand dev
  $ errand errors list --since 2h

"errand <command> --help" tells what a command takes, with examples.`;

/** Puts each command under its heading; all commands must be there. Throws for one that is under none. */
export function groupCommands(program: Command): void {
  for (const command of program.commands) {
    const [heading] = Object.entries(GROUPS).find(([, names]) => names.includes(command.name())) ?? [];
    if (heading === undefined) throw new Error(`no heading has the command ${command.name()}`);
    command.helpGroup(heading);
  }
  // Of what stands there without a heading: the command `help`. What a command takes is told by its own help.
  program.commandsGroup('More:').configureHelp({ subcommandTerm: (command) => command.name() });
  program.addHelpText('after', FOOTER);
}
