// errand components check PATH: whether components would run, on this machine or on a server.

import type { Command } from 'commander';
import { oneLine, pad, widthOf } from './shell/text.ts';
import { serverValue } from './shell/values.ts';

/** As `POST /v1/components/check` answers. */
export interface Checks {
  readonly data: readonly Checked[];
  readonly install: string | null;
  readonly truncated: boolean;
}

interface Checked {
  readonly path: string | null;
  readonly kind: string;
  readonly runs: boolean;
  readonly missing_packages: readonly string[];
  readonly accounts: readonly string[];
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

interface Problem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly text: string;
}

export interface ComponentsDeps {
  /** Calls back with what checks files: on this machine, or the server at that URL. Cleans up afterwards. */
  readonly checking: (
    of: { readonly path: string; readonly url: string | null },
    act: (check: (after: string | null) => Promise<Checks>) => Promise<void>,
  ) => Promise<void>;
  readonly print: (value: unknown) => void;
  /** Resolves when there is room for more. */
  readonly write: (text: string) => Promise<void>;
}

export function addComponents(program: Command, { checking, print, write }: ComponentsDeps): void {
  program
    .command('components')
    .description('check component files')
    .command('check <path>')
    .description('report for each component in a folder whether it would run; exit code 1 when one would not')
    .option(
      '--url <url>',
      'the server whose components folder contains the path; its key is in ERRAND_API_KEY',
      serverValue,
    )
    .option('--json', 'print what POST /v1/components/check answers')
    .action(async (path: string, { url, json }: { url?: string; json?: true }) => {
      await checking({ path, url: url ?? null }, async (check) => {
        const checks = await checkAll(check);
        if (json) print({ data: checks.data, install: checks.install });
        else await write(tableOf(checks));
        if (checks.data.some(({ runs }) => !runs)) process.exitCode = 1;
      });
    });
}

/** Reads every page of checks; the last command that adds packages counts for all that were missing so far. */
async function checkAll(check: (after: string | null) => Promise<Checks>): Promise<Omit<Checks, 'truncated'>> {
  const data: Checked[] = [];
  const installs: string[] = [];
  for (let after: string | null = null; ; after = data.at(-1)?.path ?? null) {
    const page = await check(after);
    data.push(...page.data);
    if (page.install !== null) installs.push(page.install);
    if (!page.truncated || page.data.length === 0) return { data, install: joined(installs) };
  }
}

/** A word of a shell's, with its quotes. */
const WORD = /(?:'[^']*'|\\'|[^\s'])+/g;
/** `npm install --prefix <folder>` */
const COMMAND_WORDS = 4;

/** Returns one command of several for the same folder; null when there is none. */
function joined(commands: readonly string[]): string | null {
  const words = commands.map((command) => command.match(WORD) ?? []);
  const packages = new Set(words.flatMap((all) => all.slice(COMMAND_WORDS)).sort());
  return words[0] === undefined ? null : [...words[0].slice(0, COMMAND_WORDS), ...packages].join(' ');
}

/** Returns a line for each file with its problems below it, then how many run, and the command. */
function tableOf({ data, install }: Omit<Checks, 'truncated'>): string {
  const width = data.reduce((most, check) => Math.max(most, widthOf(pathOf(check))), 0);
  const lines = data.flatMap((check) => [
    `${check.kind.padEnd(6)}  ${verdictOf(check).padEnd(4)}  ${pad(pathOf(check), width)}  ${oneLine(needsOf(check))}`.trimEnd(),
    ...check.problems.map((problem) => `    ${formatted(problem)}`),
    ...check.warnings.map((problem) => `    warning: ${formatted(problem)}`),
  ]);
  const components = data.filter(({ kind, runs }) => !runs || isComponent(kind));
  const count = components.filter(({ runs }) => runs).length;
  const end = [`${count} of ${components.length} components would run here`];
  return [...lines, ...end, ...(install === null ? [] : [oneLine(install)]), ''].join('\n');
}

function pathOf({ path }: Checked): string {
  return oneLine(path ?? '');
}

function isComponent(kind: string): boolean {
  return kind === 'source' || kind === 'action';
}

function verdictOf({ kind, runs }: Checked): string {
  if (!runs) return 'no';
  return isComponent(kind) ? 'runs' : '';
}

function needsOf({ missing_packages: packages, accounts }: Checked): string {
  const lists = [
    ['packages', packages],
    ['accounts', accounts],
  ] as const;
  return lists.flatMap(([name, list]) => (list.length === 0 ? [] : [`${name}: ${list.join(', ')}`])).join('; ');
}

function formatted({ file, line, column, text }: Problem): string {
  return oneLine(`${file}:${line}:${column}: ${text}`);
}
