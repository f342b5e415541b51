// Reads what describes a workflow in its folder: `workflow.yaml` for names, settings and steps, `workflow.json` for what its triggers are set
// to, or one of them for all.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isOfN8n } from './foreign.ts';
import { listOf, type Members, membersOf, textOf } from './values.ts';

interface Described {
  readonly whole: Members;
  /** What the files do not say. */
  readonly notes: readonly string[];
}

/** Returns the members of both files. `files`: their names, the YAML first. Throws what is wrong with one, by its name. */
export async function readFiles(folder: string, files: readonly string[]): Promise<Described> {
  const read: Members[] = [];
  for (const file of files) {
    try {
      read.push(await membersIn(join(folder, file)));
    } catch (error) {
      throw new Error(`${file}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  const [first = {}, second] = read;
  if (second !== undefined) return withTriggers(first, second);
  return { whole: first, notes: files[0]?.endsWith('.json') === true ? missingIn(first) : [] };
}

/** Takes triggers of the JSON, and those that the YAML alone has. */
function withTriggers(yaml: Members, json: Members): Described {
  const triggers = listOf(json.triggers);
  const ids = new Set(triggers.map((trigger) => membersOf(trigger).id));
  const others = listOf(yaml.triggers).filter((trigger) => !ids.has(membersOf(trigger).id));
  return { whole: { ...yaml, triggers: [...triggers, ...others] }, notes: [] };
}

function missingIn({ name, settings }: Members): string[] {
  return [
    ...((textOf(name) ?? textOf(membersOf(settings).name))
      ? []
      : ['workflow.json has no name: it has that of its folder']),
    ...(settings === undefined
      ? [
          'workflow.json has no settings, such as a time limit: they are as for a new workflow; keep workflow.yaml beside it',
        ]
      : []),
  ];
}

async function membersIn(file: string): Promise<Members> {
  const text = await readFile(file, 'utf8');
  if (isOfN8n(text)) throw new Error('it is an export of n8n, which is not imported: see docs/migrating.md');
  const parsed: unknown = file.endsWith('.json') ? JSON.parse(text) : await parsedYaml(text);
  return membersOf(membersOf(parsed).data ?? parsed);
}

// The reader of YAML bounds aliases by itself, and makes no objects but plain ones.
async function parsedYaml(text: string): Promise<unknown> {
  const { isCollection, LineCounter, parseDocument, visit } = await import('yaml');
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter });
  const [fault] = document.errors;
  if (fault !== undefined) throw fault;
  visit(document, {
    Pair: (_, { key }) => {
      if (!isCollection(key)) return;
      const { line } = lineCounter.linePos(key.range?.[0] ?? 0);
      throw new Error(`line ${line}: braces in braces are no value in YAML: put {{…}} in quotes, as "{{steps.…}}"`);
    },
  });
  return document.toJS();
}
