// What the hosted original wrote of a project: a folder for each workflow, as its synchronisation with a repository makes it
// (`workflow.yaml`, and the code of each step as `<step>/entry.js`), or with the answer of its interface to
// `GET /v1/workflows/{id}` as `workflow.json` beside or instead of it. The format of the former is nowhere defined (its maker: "Not yet"). It was
// read from projects that their owners have published: `schema`, `name`, `inactive`, `settings` (`lambda_timeout` in seconds,
// `error_notification`), `triggers` with nothing but an `id`, and `steps` with `namespace`, `runtime`, `uses` (`./code/entry.js`,
// or the key of a public action), `props`, `disabled` and `notes`. The answer is documented, with what triggers are set to.
// What is not understood becomes a note for the person who moves.

import { readdir, readFile, realpath } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { readFiles } from './files.ts';
import type { ImportedStep, ImportedWorkflow, LeftProp } from './imported.ts';
import { withStepNames } from './renamed-steps.ts';
import { noteMembers, readSettings } from './settings.ts';
import { readTrigger } from './triggers.ts';
import { listOf, type Members, membersOf, textOf } from './values.ts';

/** The version of `workflow.yaml` that was looked at. */
const SCHEMA = 'workflow/2022.04';
/** One of each is read. */
const FILES = [['workflow.yaml', 'workflow.yml'], ['workflow.json']];
const EXTENSIONS = ['mjs', 'js', 'ts', 'cjs'];
/** Deeper folders are no project. */
const MAX_LEVEL = 6;

/** Returns each workflow below a folder, in the order of the folders' names. */
export async function readProject(root: string, folder = root, level = 0): Promise<ImportedWorkflow[]> {
  const entries = (await readdir(folder, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1));
  const isThere = (name: string): boolean => entries.some((entry) => entry.isFile() && entry.name === name);
  const files = FILES.flatMap((names) => names.filter(isThere).slice(0, 1));
  const at = relative(root, folder) || basename(folder);
  if (files.length > 0) return [await readWorkflow(at, folder, files)];
  const inside = entries.filter(({ name }) => name !== 'node_modules' && !name.startsWith('.'));
  const folders = level === MAX_LEVEL ? [] : inside.filter((entry) => entry.isDirectory());
  const found = await Promise.all(folders.map(({ name }) => readProject(root, join(folder, name), level + 1)));
  return found.flat();
}

async function readWorkflow(at: string, folder: string, files: readonly string[]): Promise<ImportedWorkflow> {
  const notes: string[] = [];
  // The folder's name ends in the id that the workflow had.
  const named = basename(folder).replace(/-p_[0-9A-Za-z]+$/, '');
  let name = named;
  try {
    const { whole, notes: ofFiles } = await readFiles(folder, files);
    notes.push(...ofFiles);
    name = textOf(whole.name) ?? textOf(membersOf(whole.settings).name) ?? named;
    const left: LeftProp[] = [];
    const read = { folder, notes, left };
    const found: ImportedStep[] = [];
    for (const step of listOf(whole.steps)) {
      const imported = await readStep(membersOf(step), read);
      if (imported) found.push(imported);
    }
    const { steps, left: leftProps, notes: ofNames } = await withStepNames(found, left);
    notes.push(...ofNames);
    const schema = textOf(whole.schema);
    if (schema !== undefined && schema !== SCHEMA)
      notes.push(`it is written in ${schema}: ${SCHEMA} is what is known here`);
    // The file does not say whether callers wait for an answer: the code does.
    const answers = steps.some(({ code, component_path }) =>
      code === undefined ? component_path === HTTP_ANSWER : /\$\s*\.\s*respond\s*\(/.test(code),
    );
    const triggers = listOf(whole.triggers).flatMap((trigger) => readTrigger(membersOf(trigger), { notes, answers }));
    const active = whole.inactive !== true && whole.active !== false;
    if (!active) notes.push('it is switched off there, and stays so');
    return {
      folder: at,
      name,
      steps,
      left: leftProps,
      triggers,
      settings: readSettings(whole, notes),
      active,
      notes,
      fault: steps.length === 0 ? 'it has no step that could be imported' : null,
    };
  } catch (error) {
    const why = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    const none = { steps: [], left: [], triggers: [], settings: {}, active: false };
    return { folder: at, name, ...none, notes, fault: why.startsWith('workflow.') ? why : `${files[0]}: ${why}` };
  }
}

const HTTP_ANSWER = 'http/actions/return-http-response/return-http-response.mjs';

interface Reading {
  readonly folder: string;
  /** What is found, added by each step. */
  readonly notes: string[];
  readonly left: LeftProp[];
}

async function readStep(step: Members, { folder, notes, left }: Reading): Promise<ImportedStep | null> {
  const namespace = textOf(step.namespace) ?? textOf(step.name);
  if (namespace === undefined) throw new Error('a step has no "namespace"');
  if (step.disabled === true) {
    notes.push(`the step ${namespace} is switched off there, and was left out`);
    return null;
  }
  noteMembers(step, namespace, notes);
  const lang = textOf(step.lang) ?? textOf(step.runtime) ?? 'nodejs';
  if (!/^(node|js|javascript|typescript)/i.test(lang))
    throw new Error(`the step ${namespace} is written in ${lang}: only JavaScript and TypeScript run here`);
  const saved = membersOf(step.savedComponent);
  const { props, references } = propsOf(step);
  for (const { prop, ...reference } of references) {
    left.push({ namespace, prop, ...reference });
    notes.push(`the step ${namespace} needs an account or another resource as its prop "${prop}"`);
  }
  const given = Object.keys(props).length === 0 ? {} : { configured_props: props };
  const uses = textOf(step.uses);
  const file = textOf(step.path) ?? (uses?.startsWith('.') ? uses : undefined);
  const key = file === undefined ? (uses ?? textOf(step.component_key) ?? textOf(saved.key)) : undefined;
  const path = key === undefined ? undefined : componentPath(key);
  const own = path === undefined ? textOf(saved.code) : undefined;
  const code = textOf(step.code) ?? own ?? (await readCode(folder, namespace, file));
  if (code !== undefined) return { namespace, code, ...given };
  if (path === undefined)
    throw new Error(
      `the step ${namespace} has neither code (${file ?? `${namespace}/entry.js`}) nor the key of a public component; ` +
        'steps without code from a menu are not there: write it as code',
    );
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

type Reference = Pick<LeftProp, 'kind' | 'id'>;

/** Returns the values of props, and those that refer to what only exists there. */
function propsOf(step: Members): { props: Record<string, unknown>; references: (Reference & { prop: string })[] } {
  const text = textOf(step.configured_props_json);
  const all = membersOf(step.props ?? step.configured_props ?? (text === undefined ? {} : JSON.parse(text)));
  const props: Record<string, unknown> = {};
  const references: (Reference & { prop: string })[] = [];
  for (const [prop, value] of Object.entries(all)) {
    // Names with two underscores are its editor's, such as the descriptions of a step's props.
    if (prop.startsWith('__')) continue;
    const reference = referenceOf(value);
    if (reference === null) props[prop] = withoutLabel(value);
    else references.push({ prop, ...reference });
  }
  return { props, references };
}

function referenceOf(value: unknown): Reference | null {
  if (typeof value === 'string') {
    const [, prefix] = /^(apn|ds|dc|sb)_[0-9A-Za-z]{4,}$/.exec(value) ?? [];
    if (prefix === undefined) return null;
    return { kind: prefix === 'apn' ? 'account' : prefix === 'ds' ? 'data_store' : 'other', id: value };
  }
  for (const [name, id] of Object.entries(membersOf(value))) {
    if (/^auth_?provision_?id$/i.test(name)) return { kind: 'account', id: String(id) };
    if (/^store_?id$/i.test(name)) return { kind: 'data_store', id: String(id) };
  }
  return null;
}

/** Returns the value that a person has chosen from a list there, where it stands with its label, as `{__lv: {label, value}}`. */
function withoutLabel(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutLabel);
  const { __lv: chosen } = membersOf(value);
  return chosen === undefined ? value : (membersOf(chosen).value ?? null);
}
