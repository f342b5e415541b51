// What the hosted original wrote of a project: a folder for each workflow, as its synchronisation with a repository makes it
// (`workflow.yaml`, and the code of each step as `<step>/entry.js`), or with the answer of its interface to
// `GET /v1/workflows/{id}` as `workflow.json` instead. The format of the former is nowhere defined: each member is read where
// it stands in what was seen, and what is not understood becomes a note for the person who moves.

import { readdir, readFile, realpath } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';

export interface ImportedStep {
  readonly namespace: string;
  readonly code?: string;
  readonly component_path?: string;
  readonly configured_props?: Readonly<Record<string, unknown>>;
}

export type ImportedTrigger =
  | { readonly type: 'http'; readonly custom_response?: boolean }
  | {
      readonly type: 'schedule';
      readonly cron?: string;
      readonly interval_seconds?: number;
      readonly timezone?: string;
    };

export interface ImportedWorkflow {
  readonly folder: string;
  readonly name: string;
  readonly steps: readonly ImportedStep[];
  readonly triggers: readonly ImportedTrigger[];
  /** What is left to do by hand. */
  readonly notes: readonly string[];
  /** Why it cannot be imported; null: it can. */
  readonly fault: string | null;
}

type Members = Readonly<Record<string, unknown>>;

const FILES = ['workflow.yaml', 'workflow.yml', 'workflow.json'];
const EXTENSIONS = ['mjs', 'js', 'ts', 'cjs'];
/** Deeper folders are no project. */
const MAX_LEVEL = 6;

/** Returns each workflow below a folder, in the order of the folders' names. */
export async function readProject(root: string, folder = root, level = 0): Promise<ImportedWorkflow[]> {
  const entries = (await readdir(folder, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1));
  const file = FILES.find((name) => entries.some((entry) => entry.isFile() && entry.name === name));
  const at = relative(root, folder) || basename(folder);
  if (file !== undefined) return [await readWorkflow(at, folder, file)];
  const inside = entries.filter(({ name }) => name !== 'node_modules' && !name.startsWith('.'));
  const folders = level === MAX_LEVEL ? [] : inside.filter((entry) => entry.isDirectory());
  const found = await Promise.all(folders.map(({ name }) => readProject(root, join(folder, name), level + 1)));
  return found.flat();
}

async function readWorkflow(at: string, folder: string, file: string): Promise<ImportedWorkflow> {
  const notes: string[] = [];
  // The folder's name ends in the id that the workflow had.
  const named = basename(folder).replace(/-p_[0-9A-Za-z]+$/, '');
  let name = named;
  try {
    const text = await readFile(join(folder, file), 'utf8');
    // The reader of YAML bounds aliases by itself, and makes no objects but plain ones.
    const read: unknown = file.endsWith('.json') ? JSON.parse(text) : (await import('yaml')).parse(text);
    const whole = membersOf(membersOf(read).data ?? read);
    name = textOf(whole.name) ?? textOf(membersOf(whole.settings).name) ?? named;
    const steps: ImportedStep[] = [];
    for (const step of listOf(whole.steps)) {
      const imported = await readStep(membersOf(step), folder, notes);
      if (imported) steps.push(imported);
    }
    const triggers = listOf(whole.triggers).flatMap((trigger) => readTrigger(membersOf(trigger), notes));
    return {
      folder: at,
      name,
      steps,
      triggers,
      notes,
      fault: steps.length === 0 ? 'it has no step that could be imported' : null,
    };
  } catch (error) {
    const why = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    return { folder: at, name, steps: [], triggers: [], notes, fault: `${file}: ${why}` };
  }
}

async function readStep(step: Members, folder: string, notes: string[]): Promise<ImportedStep | null> {
  const namespace = textOf(step.namespace) ?? textOf(step.name);
  if (namespace === undefined) throw new Error('a step has no "namespace"');
  if (step.disabled === true) {
    notes.push(`the step ${namespace} is switched off there, and was left out`);
    return null;
  }
  const lang = textOf(step.lang) ?? textOf(step.runtime) ?? 'nodejs';
  if (!/^(node|js|javascript|typescript)/i.test(lang))
    throw new Error(`the step ${namespace} is written in ${lang}: only JavaScript and TypeScript run here`);
  const { props, left } = propsOf(step);
  for (const prop of left)
    notes.push(`the step ${namespace} needs an account or another resource as its prop "${prop}"`);
  const given = Object.keys(props).length === 0 ? {} : { configured_props: props };
  const code = textOf(step.code) ?? (await readCode(folder, namespace, textOf(step.path)));
  if (code !== undefined) return { namespace, code, ...given };
  const key = textOf(step.uses) ?? textOf(step.component_key) ?? textOf(membersOf(step.savedComponent).key);
  const path = key === undefined ? undefined : componentPath(key);
  if (path === undefined)
    throw new Error(`the step ${namespace} has neither code (${namespace}/entry.js) nor the key of a public component`);
  notes.push(`the step ${namespace} is the public component ${key}: ${path} has to be in ERRAND_COMPONENTS_DIR`);
  return { namespace, component_path: path, ...given };
}

/** Returns the code of a step; undefined when there is none. A path out of the folder is none. */
async function readCode(folder: string, namespace: string, path: string | undefined): Promise<string | undefined> {
  const named = path === undefined ? [] : [path, ...EXTENSIONS.map((extension) => join(path, `entry.${extension}`))];
  const usual = EXTENSIONS.flatMap((extension) => [`${namespace}/entry.${extension}`, `${namespace}.${extension}`]);
  const root = (await realpath(folder)) + sep;
  for (const file of [...named, ...usual]) {
    const real = await realpath(join(folder, file)).catch(() => '');
    if (!real.startsWith(root)) continue;
    const code = await readFile(real, 'utf8').catch(() => undefined);
    if (code !== undefined) return code;
  }
  return undefined;
}

/** Returns the path in the public registry of a component's key, as `slack-send-message@1.2.0`. */
function componentPath(key: string): string | undefined {
  const [, app, name] = /^([a-z0-9_]+)-([a-z0-9-]+)(?:@[\w.-]+)?$/.exec(key) ?? [];
  return app && name ? `${app}/actions/${name}/${name}.mjs` : undefined;
}

/** Returns the values of props, and the names of those that refer to what only exists there. */
function propsOf(step: Members): { props: Record<string, unknown>; left: string[] } {
  const text = textOf(step.configured_props_json);
  const all = membersOf(step.props ?? step.configured_props ?? (text === undefined ? {} : JSON.parse(text)));
  const refers = (value: unknown): boolean =>
    (typeof value === 'string' && /^(apn|ds|dc|sb)_[0-9A-Za-z]{4,}$/.test(value)) ||
    Object.keys(membersOf(value)).some((name) => /^auth_?provision_?id$/i.test(name));
  const entries = Object.entries(all);
  return {
    props: Object.fromEntries(entries.filter(([, value]) => !refers(value))),
    left: entries.filter(([, value]) => refers(value)).map(([name]) => name),
  };
}

function readTrigger(trigger: Members, notes: string[]): ImportedTrigger[] {
  const id = textOf(trigger.id) ?? '';
  const timer = membersOf(trigger.timer ?? membersOf(trigger.props).cron ?? trigger.props ?? trigger);
  const cron = textOf(timer.cron) ?? textOf(timer.cron_expression) ?? textOf(trigger.cron);
  const seconds = timer.interval_seconds ?? timer.intervalSeconds ?? trigger.interval_seconds;
  const timezone = textOf(timer.timezone) ?? textOf(trigger.timezone);
  const zone = timezone === undefined ? {} : { timezone };
  if (cron !== undefined) return [{ type: 'schedule', cron, ...zone }];
  if (typeof seconds === 'number') return [{ type: 'schedule', interval_seconds: seconds, ...zone }];
  if (id.startsWith('hi_') || textOf(trigger.endpoint_url) !== undefined) {
    const answers = trigger.custom_response === true || membersOf(trigger.props).customResponse === true;
    return [{ type: 'http', ...(answers ? { custom_response: true } : {}) }];
  }
  const key = textOf(trigger.uses) ?? textOf(trigger.component_key) ?? textOf(trigger.key);
  notes.push(
    `the trigger ${id || key || JSON.stringify(trigger)} is a source: deploy it here, and subscribe the workflow to it`,
  );
  return [];
}

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
