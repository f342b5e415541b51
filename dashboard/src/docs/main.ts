// What the pages of the documentation get beyond their text: a search, buttons that copy, samples in one chosen language, and
// a form that tries an operation. The pages are whole without it. Nothing here makes HTML of text.

import { addCopyButtons } from './copy.ts';
import { rememberLanguage } from './language.ts';
import { addSearch } from './search.ts';
import { followTheme } from './theme.ts';
import { addTryIt } from './try-it.ts';

followTheme();
rememberLanguage();
addCopyButtons(document);
addSearch();
addTryIt();

// The list of contents covers the page on a narrow screen: what was chosen in it is below.
const contents = document.getElementById('contents');
contents?.addEventListener('click', ({ target }) => {
  if (target instanceof HTMLAnchorElement && contents.matches(':popover-open')) contents.hidePopover();
});
