import { useEffect, useState } from 'react';

/**
 * Gives the focus back to what had it when a dialog came. A dialog that is taken away, and not closed by Mantine, has to do so;
 * one that replaces another gives it back to what opened that.
 */
export function useFocusBack(): void {
  const [before] = useState(() => document.activeElement);
  useEffect(() => {
    const then = document.activeElement;
    return () => {
      const back = [before, then].find((one) => one?.isConnected && one !== document.body);
      if (back instanceof HTMLElement) back.focus({ preventScroll: true });
    };
  }, [before]);
}
