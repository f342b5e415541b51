// What the editor offers in the code of a step: what `errand/workflow` declares, and what the last run left: its event, and the
// exports and return values of the steps before this one.

import { type Completion, type CompletionContext, type CompletionResult, ifNotIn } from '@codemirror/autocomplete';
import type { RunWhole } from '../../../../src/client/client.ts';
import type { Workflow } from '../../api/types.ts';
import given from './given.json' with { type: 'json' };

/** What stands behind a name, and behind the names in it. */
export interface Known {
  readonly type: string;
  readonly about: string;
  readonly inside: Map<string, Known>;
}

export interface Place {
  /** Names of the steps before this one. */
  readonly steps: readonly string[];
  readonly triggers: Workflow['triggers'];
  /** Null: none has ended, or it could not be read. */
  readonly lastRun: Pick<RunWhole, 'event' | 'steps'> | null;
}

type Declared = Readonly<Record<string, { readonly type: string; readonly about: string }>>;

const MAX_LEVEL = 5;
const MAX_NAMES = 100;
const MAX_SHOWN = 80;
const NAME = /^[A-Za-z_$][\w$]*$/;

/** Returns all that the code of a step may name. */
export function knownAt({ steps, triggers = [], lastRun }: Place): Map<string, Known> {
  const root = new Map<string, Known>();
  declare(root, given.step);
  const trigger = root.get('steps')?.inside.get('trigger');
  for (const name of eventsOf(triggers)) {
    const ofEvent: Declared = given.events[name];
    for (const event of [trigger?.inside.get('event'), root.get('event')]) if (event) declare(event.inside, ofEvent);
  }
  if (lastRun) {
    for (const event of [trigger?.inside.get('event'), root.get('event')]) {
      if (event) addValues(event.inside, lastRun.event, 0);
    }
  }
  const ofSteps = root.get('steps')?.inside;
  for (const name of steps) {
    const left = lastRun?.steps.find(({ namespace }) => namespace === name);
    const inside = new Map<string, Known>();
    addValues(inside, { $return_value: left?.return_value, $resume_data: left?.resume_data, ...left?.exports }, 0);
    ofSteps?.set(name, { type: '', about: '', inside });
  }
  return root;
}

/** Returns what may follow a path, as `$.send`; of an empty one, what stands by itself. */
export function behind(root: Map<string, Known>, path: readonly string[]): Map<string, Known> {
  return path.reduce((names, name) => names.get(name)?.inside ?? new Map<string, Known>(), root);
}

function eventsOf(triggers: NonNullable<Workflow['triggers']>): (keyof typeof given.events)[] {
  return triggers.flatMap((trigger): (keyof typeof given.events)[] => {
    if (trigger.type === 'http') return ['HttpEvent'];
    if (trigger.type === 'schedule') return ['cron' in trigger && trigger.cron ? 'CronEvent' : 'IntervalEvent'];
    return [];
  });
}

function declare(names: Map<string, Known>, declared: Declared): void {
  for (const [path, { type, about }] of Object.entries(declared)) {
    const parts = path.split('.');
    const last = parts.pop() as string;
    const inside = behind(names, parts);
    if (!inside.has(last)) inside.set(last, { type, about, inside: new Map() });
  }
}

/** Adds the names of an object's members. What has a declared type keeps it. */
function addValues(names: Map<string, Known>, value: unknown, level: number): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || level === MAX_LEVEL) return;
  for (const [name, member] of Object.entries(value).slice(0, MAX_NAMES)) {
    if (!NAME.test(name)) continue;
    const known = names.get(name) ?? { type: typeOf(member), about: shownOf(member), inside: new Map() };
    names.set(name, known);
    addValues(known.inside, member, level + 1);
  }
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return value === undefined ? '' : typeof value;
}

/** Returns the value that the last run had there, cut. */
function shownOf(value: unknown): string {
  if (value === undefined || (typeof value === 'object' && value !== null && !Array.isArray(value))) return '';
  const text = JSON.stringify(value) ?? '';
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

/**
 * Completes names of what a step is given, one level at a time, outside of texts and comments. A place that is known answers
 * at once: what is typed while an answer is on its way outdates it.
 */
export function completing(place: () => Place | Promise<Place>) {
  const source = (context: CompletionContext): CompletionResult | null | Promise<CompletionResult | null> => {
    const typed = context.matchBefore(/(?:[\w$]+\??\.)*[\w$]*/);
    if (!typed || (typed.text === '' && !context.explicit)) return null;
    // A member of something else: `order.$`, or `list[0].`.
    if (typed.from > 0 && /[.\])"'`]/.test(context.state.sliceDoc(typed.from - 1, typed.from))) return null;
    const path = typed.text.split(/\??\./);
    const from = typed.to - (path.pop() ?? '').length;
    const at = place();
    return at instanceof Promise ? at.then((known) => resultOf(known, path, from)) : resultOf(at, path, from);
  };
  return ifNotIn(['String', 'LineComment', 'BlockComment'], source);
}

function resultOf(place: Place, path: readonly string[], from: number): CompletionResult | null {
  const options = [...behind(knownAt(place), path)].map(([name, known]) => optionOf(name, known));
  return options.length === 0 ? null : { from, options, validFor: /^[\w$]*$/ };
}

function optionOf(label: string, { type, about }: Known): Completion {
  const isFunction = type.startsWith('(');
  return { label, type: isFunction ? 'function' : 'property', detail: type, ...(about === '' ? {} : { info: about }) };
}
