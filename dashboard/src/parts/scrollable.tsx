import type { ReactNode } from 'react';

/** What may scroll by itself: it must be reached by keyboard, and have a name. */
export function Scrollable({ label, className, children }: { label: string; className: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <section className={className} aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}
