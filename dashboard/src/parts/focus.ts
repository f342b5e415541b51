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

/** Returns what has the focus; of a menu, which is about to go, its button. */
function openerOf(): Element | null {
  const { activeElement } = document;
  const labelledBy = activeElement?.closest('[role="menu"]')?.getAttribute('aria-labelledby');
  return labelledBy ? document.getElementById(labelledBy) : activeElement;
}

/**
 * Keeps the focus in the page. A browser gives it to nothing when what had it is taken away, such as a row that was deleted, or
 * cannot be pressed for a moment. Then it goes back to the button, once it can be pressed again; else to the nearest heading around:
 * a screen reader tells where it is, and Tab goes on from there.
 */
export function keepFocus(): void {
  /** What had the focus last, and all that is around it; empty: it was left on purpose. */
  let path: HTMLElement[] = [];
  const look = (): void => {
    const [last] = path;
    if (!last || document.activeElement !== document.body) return;
    if (last.isConnected && last.matches('[data-loading]')) return;
    const isLost = !last.isConnected || last.matches(':disabled');
    const near = path.find((one) => one.isConnected && one.querySelector('h1, h2'))?.querySelector('h1, h2');
    const next = isLost ? near : last;
    if (!(next instanceof HTMLElement)) return;
    if (isLost) next.tabIndex = -1;
    next.focus({ preventScroll: true });
  };
  document.addEventListener('focusin', (event) => {
    path = event.composedPath().filter((one) => one instanceof HTMLElement);
  });
  document.addEventListener('focusout', ({ target }) => {
    // Of what is being taken away, too: a moment later it is gone.
    queueMicrotask(() => {
      if (target === path[0] && path[0]?.isConnected && !path[0].matches(':disabled')) path = [];
    });
  });
  // A dialog that closes gives the focus back first.
  const looking = new MutationObserver(() => setTimeout(look));
  looking.observe(document.body, { subtree: true, childList: true, attributeFilter: ['disabled'] });
}
