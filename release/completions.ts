// Writes what the dashboard's editor completes in the code of a step, from the types that `errand/workflow` gives to projects.
// With `--check` it compares instead, and exits 1 when the file is another.
//
// The declarations are read as text: they are interfaces of our own, with one member a statement. (Rejected: the compiler's
// interface to programs, which this version of TypeScript does not promise yet.)

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from './shipped.ts';

const SOURCE = 'src/sdk/workflow.ts';
const FILE = 'dashboard/src/workflows/steps/given.json';

/** What the code of a step gets. */
const ARGUMENT = 'Given';
/** What `steps.trigger.event` is, by the kind of the trigger. */
const EVENTS = ['HttpEvent', 'CronEvent', 'IntervalEvent', 'ErrorEvent'];
/** A type that holds itself would go on for ever. */
const MAX_LEVEL = 4;

interface Member {
  readonly name: string;
  readonly type: string;
  readonly about: string;
}

export interface Completion {
  readonly type: string;
  readonly about: string;
}

/** Path, as it is typed → what it is. */
type Completions = Readonly<Record<string, Completion>>;

export interface GivenToSteps {
  readonly step: Completions;
  readonly events: Readonly<Record<string, Completions>>;
}

/** Returns all that the code of a step can reach, given the text of the declarations. */
export function completionsOf(text: string): GivenToSteps {
  const ofEvents = EVENTS.map((name) => [name, unfold(membersOf(text, name), text)] as const);
  return { step: unfold(membersOf(text, ARGUMENT), text), events: Object.fromEntries(ofEvents) };
}

function unfold(members: readonly Member[], text: string, path = '', level = 0): Completions {
  const found: Record<string, Completion> = {};
  for (const { name, type, about } of members) {
    const own = path + name;
    found[own] = { type: shortened(type), about };
    if (level < MAX_LEVEL) Object.assign(found, unfold(insideOf(type, text), text, `${own}.`, level + 1));
  }
  return found;
}

/** Returns the members of an object type: one that is written in place, one that has a name, or several joined by `&`. */
function insideOf(type: string, text: string): Member[] {
  if (type.includes('=>')) return [];
  if (type.startsWith('{')) return parse(type.slice(1, closing(type, 0)));
  return type.split('&').flatMap((part) => membersOf(text, part.trim()));
}

function membersOf(text: string, name: string): Member[] {
  if (!/^\w+$/.test(name)) return [];
  const start = new RegExp(`^export interface ${name}(<[^{]*>)? \\{`, 'm').exec(text);
  if (start === null) return [];
  const open = start.index + start[0].length - 1;
  return parse(text.slice(open + 1, closing(text, open)));
}

function parse(body: string): Member[] {
  const found: Member[] = [];
  const statement = /\s*(?:\/\*\*([\s\S]*?)\*\/)?\s*(?:readonly )?([$\w]+|\[)\??/y;
  let at = 0;
  while (at < body.length) {
    statement.lastIndex = at;
    const [, comment = '', name = ''] = statement.exec(body) ?? [];
    if (name === '') break;
    const from = statement.lastIndex;
    at = ending(body, from) + 1;
    // Any other name may be there, too.
    if (name === '[') continue;
    const type = body
      .slice(from, at - 1)
      .replaceAll(/\s+/g, ' ')
      .replace(/^: /, '')
      .trim();
    found.push({ name, type, about: comment.replaceAll(/\s*\n?\s*\*\s*|\s+/g, ' ').trim() });
  }
  return found;
}

/** Returns where the statement ends: its `;` outside of all braces. */
function ending(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const character = text.charAt(at);
    if ('{(['.includes(character)) depth++;
    if ('})]'.includes(character)) depth--;
    if (character === ';' && depth === 0) return at;
  }
  return text.length;
}

function closing(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    if (text.charAt(at) === '{') depth++;
    if (text.charAt(at) === '}' && --depth === 0) return at;
  }
  return text.length;
}

/** An object's members stand below it: of its own type only that it is one is told. */
function shortened(type: string): string {
  return type.startsWith('{') ? '{…}' : type;
}

async function main(): Promise<void> {
  const made = completionsOf(await readFile(join(ROOT, SOURCE), 'utf8'));
  const text = `${JSON.stringify(made, null, 2)}\n`;
  if (!process.argv.includes('--check')) await writeFile(join(ROOT, FILE), text);
  else if ((await readFile(join(ROOT, FILE), 'utf8').catch(() => '')) !== text) {
    console.error(`${FILE} is not what ${SOURCE} says; run \`npm run generate\``);
    process.exitCode = 1;
  }
}

if (import.meta.main) await main();
