// Adding, moving, renaming and removing steps of a draft: each is said, and gives the focus to what a person goes on with.

import { type Dispatch, type RefObject, type SetStateAction, useEffect, useRef, useState } from 'react';
import type { Draft, DraftStep } from './draft.ts';
import { moved, newId, rearranged, type ShownStep } from './draft-steps.ts';
import { words } from './english.ts';
import { withOtherName } from './references.ts';

type Target = 'editor' | 'name' | 'up' | 'down';

interface Given {
  readonly shown: readonly ShownStep[];
  readonly of: Parameters<typeof rearranged>[1];
  readonly setDraft: Dispatch<SetStateAction<Draft>>;
}

export interface Arranging {
  /** What was done last, for those who do not see it. */
  readonly said: string;
  /** Around all steps. */
  readonly card: RefObject<HTMLElement | null>;
  /** Behind the step of that place. */
  add(name: string, behind: number): void;
  move(id: string, by: -1 | 1): void;
  /** `changed`: code of other steps that named it. */
  rename(id: string, name: string, changed: readonly ShownStep[]): void;
  remove(id: string): void;
}

export function useArranging({ shown, of, setDraft }: Given): Arranging {
  const [said, setSaid] = useState('');
  const card = useRef<HTMLElement>(null);
  const focus = useRef<{ readonly id: string; readonly target: Target } | null>(null);
  // What has the focus may be moved or taken away: a dialog that has been closed gives it back before this.
  useEffect(() => {
    const next = focus.current;
    if (next === null || document.querySelector('[role="dialog"]')) return;
    focus.current = null;
    giveFocus(card.current, next.id, next.target);
  });
  const put = (arrange: (steps: readonly DraftStep[]) => readonly DraftStep[]): void =>
    setDraft((now) => rearranged(now, of, arrange));
  const nameOf = (id: string): string => shown.find((step) => step.id === id)?.name ?? id;
  return {
    said,
    card,
    add: (name, behind) => {
      const id = newId();
      put((steps) => [...steps.slice(0, behind + 1), { id, name }, ...steps.slice(behind + 1)]);
      focus.current = { id, target: 'editor' };
      setSaid(words.added(name, behind + 2, shown.length + 1));
    },
    move: (id, by) => {
      put((steps) => moved(steps, id, by));
      focus.current = { id, target: by < 0 ? 'up' : 'down' };
      const place = shown.findIndex((step) => step.id === id) + by + 1;
      setSaid(words.moved(nameOf(id), place, shown.length));
    },
    rename: (id, name, changed) => {
      const was = nameOf(id);
      setDraft((now) => {
        const code = new Map(now.code);
        for (const step of changed) code.set(step.id, withOtherName(code.get(step.id) ?? step.saved, was, name));
        const written = now.written + (changed.length > 0 ? 1 : 0);
        const all = (steps: readonly DraftStep[]) => steps.map((step) => (step.id === id ? { id, name } : step));
        return rearranged({ ...now, code, written, base: now.base ?? of.version }, of, all);
      });
      focus.current = { id, target: 'name' };
      setSaid(words.renamed(was, name));
    },
    remove: (id) => {
      const at = shown.findIndex((step) => step.id === id);
      const next = shown[at + 1] ?? shown[at - 1];
      put((steps) => steps.filter((step) => step.id !== id));
      if (next) focus.current = { id: next.id, target: 'name' };
      setSaid(words.removed(nameOf(id)));
    },
  };
}

/** At the first or last place, a step can be moved in one direction alone. */
const OTHER: Partial<Record<Target, Target>> = { up: 'down', down: 'up', editor: 'name' };

function giveFocus(card: HTMLElement | null, id: string, target: Target): void {
  const step = card?.querySelector(`[data-step=${JSON.stringify(id)}]`);
  const editor = step?.querySelector('.code-editor')?.shadowRoot?.querySelector<HTMLElement>('.cm-content');
  const find = (what: Target) =>
    what === 'editor' ? editor : step?.querySelector<HTMLElement>(`[data-focus="${what}"]:not(:disabled)`);
  (find(target) ?? find(OTHER[target] ?? target))?.focus();
}
