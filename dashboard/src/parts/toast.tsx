import { useSyncExternalStore } from 'react';
import { ProblemError } from '../../../src/client/client.ts';
import { T } from '../english.ts';

export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly isBad: boolean;
  readonly action?: { readonly label: string; readonly run: () => void };
}

const SHOWN_MS = 7000;
let toasts: readonly Toast[] = [];
let next = 1;
const heard = new Set<() => void>();

function set(changed: readonly Toast[]): void {
  toasts = changed;
  for (const one of heard) one();
}

function close(id: number): void {
  set(toasts.filter((one) => one.id !== id));
}

/** Nothing goes away under the pointer, or while it has the focus. */
function closeLater(id: number): void {
  const isHeld = (): boolean => document.getElementById(`toast-${id}`)?.matches(':hover, :focus-within') ?? false;
  setTimeout(() => (isHeld() ? closeLater(id) : close(id)), SHOWN_MS);
}

export function toast(text: string, action?: Toast['action'], isBad = false): void {
  const id = next++;
  // Said once, when the same is said again; and what went wrong before is over when something came about.
  const others = toasts.filter((one) => (one.text !== text || one.action || action) && (isBad || !one.isBad));
  set([...others.slice(-3), { id, text, isBad, action }]);
  closeLater(id);
}

export function toastError(error: unknown): void {
  toast(textOfError(error), undefined, true);
}

export function textOfError(error: unknown): string {
  const isForbidden = error instanceof ProblemError && error.status === 403;
  const text = error instanceof Error ? error.message : String(error);
  return isForbidden ? `${T.common.forbidden} ${text}` : text;
}

export function Toasts() {
  const shown = useSyncExternalStore(
    (hear) => {
      heard.add(hear);
      return () => heard.delete(hear);
    },
    () => toasts,
  );
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, text, isBad, action }) => (
        <div key={id} id={`toast-${id}`} className={isBad ? 'toast is-bad' : 'toast'}>
          <span className="toast-text">{text}</span>
          {action && (
            <button
              type="button"
              className="link-button"
              onClick={() => {
                action.run();
                close(id);
              }}
            >
              {action.label}
            </button>
          )}
        </div>
      ))}
    </div>
  );
}
