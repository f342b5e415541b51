import { useEffect, useState } from 'react';

/**
 * Gives the focus back to what had it when a dialog came; after a choice in a menu, to the button of the menu. A dialog that is
 * taken away, and not closed by Mantine, has to do so; one that replaces another gives it back to what opened that.
 */
export function useFocusBack(): void {
  const [before] = useState(openerOf);
  useEffect(() => {
    const then = openerOf();
    return () => {
      const back = [before, then].find((one) => one?.isConnected && one !== document.body);
      if (back instanceof HTMLElement) back.focus({ preventScroll: true });
    };
  }, [before]);
}

/** Gives the focus to the heading of the page when what had it goes now: Tab goes on from there, and not from the top. */
export function focusHeading(): void {
  setTimeout(() => {
    if (document.activeElement === document.body) document.querySelector('h1')?.focus({ preventScroll: true });
  });
}

/** Returns what has the focus; of a menu, which is about to go, its button. */
function openerOf(): Element | null {
  const { activeElement } = document;
  const labelledBy = activeElement?.closest('[role="menu"]')?.getAttribute('aria-labelledby');
  return labelledBy ? document.getElementById(labelledBy) : activeElement;
}
