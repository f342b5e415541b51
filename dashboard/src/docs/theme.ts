/** Where the dashboard keeps the theme that was chosen in it. */
const CHOICE = 'mantine-color-scheme-value';

/** Shows the theme of the dashboard, when one was chosen there; else that of the system. */
export function followTheme(): void {
  let choice: string | null = null;
  try {
    choice = localStorage.getItem(CHOICE);
  } catch {
    // A browser that keeps nothing for this page shows the system's.
  }
  if (choice === 'light' || choice === 'dark') document.documentElement.dataset.theme = choice;
}
