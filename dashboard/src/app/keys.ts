import { useEffect, useRef } from 'react';

export type KeyMap = Readonly<Record<string, () => void>>;

const CHORD_MS = 800;

/** The editor is in a shadow root: outside of it, an event names the root's host as its target. */
function isTyping(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  // Into a checkbox nothing is typed.
  if (target instanceof HTMLInputElement && target.type === 'checkbox') return event.key === ' ';
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

/** A button or link has the focus, which Enter presses. */
function isPressing({ key, target }: KeyboardEvent): boolean {
  return key === 'Enter' && target instanceof Element && target.closest('a, button, summary') !== null;
}

/** Hears single keys, and two keys in turn (`g e`), unless a person types or a dialog is open. */
export function useKeys(keys: KeyMap): void {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    let before = { key: '', atMs: 0 };
    const hear = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event)) return;
      if (isPressing(event)) return;
      if (document.querySelector('[role="dialog"], [role="menu"]') !== null) return;
      const isChord = event.timeStamp - before.atMs < CHORD_MS;
      const run = (isChord ? current.current[`${before.key} ${event.key}`] : undefined) ?? current.current[event.key];
      before = { key: event.key, atMs: event.timeStamp };
      if (!run) return;
      event.preventDefault();
      run();
    };
    window.addEventListener('keydown', hear);
    return () => window.removeEventListener('keydown', hear);
  }, []);
}
