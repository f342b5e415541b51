// A reader of one operation's sample in Python wants that of the next one in Python, too.

const CHOICE = 'errand.docs-language';

export function rememberLanguage(): void {
  const samples = [...document.querySelectorAll<HTMLDetailsElement>('.samples > details')];
  const show = (language: string): void => {
    for (const sample of samples) sample.open = sample.dataset.language === language;
  };
  const known = new Set(samples.map(({ dataset }) => dataset.language));
  try {
    const choice = localStorage.getItem(CHOICE);
    if (choice !== null && known.has(choice)) show(choice);
  } catch {
    // Then the first one shows.
  }
  for (const sample of samples) {
    sample.querySelector('summary')?.addEventListener('click', (event) => {
      event.preventDefault();
      const { language } = sample.dataset;
      if (language === undefined) return;
      const before = sample.getBoundingClientRect().top;
      show(language);
      // What is above became longer or shorter: what was clicked stays where it is.
      window.scrollBy({ top: sample.getBoundingClientRect().top - before, behavior: 'instant' });
      try {
        localStorage.setItem(CHOICE, language);
      } catch {
        // Then it holds for this page.
      }
    });
  }
}
