/** Whether this browser has signed in: a page that never did asks the server for nothing that it would refuse. */
export const MARK = 'errand.signed-in';

export function mayBeSignedIn(): boolean {
  try {
    return localStorage.getItem(MARK) !== null;
  } catch {
    return true;
  }
}

export function markSignedIn(isIn: boolean): void {
  try {
    if (isIn) localStorage.setItem(MARK, '1');
    else localStorage.removeItem(MARK);
  } catch {
    // A browser that keeps nothing for this page asks each time.
  }
}
