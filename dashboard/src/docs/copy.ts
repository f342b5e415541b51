import { element } from './element.ts';
import { T } from './english.ts';

const SHOWN_MS = 1500;

/** Puts a button over each block of code. */
export function addCopyButtons(root: ParentNode): void {
  for (const block of root.querySelectorAll('pre')) {
    const around = element('div', { class: 'copyable' });
    const button = element('button', { type: 'button', class: 'plain-button copy-button' }, T.copy);
    block.replaceWith(around);
    around.append(block, button);
    button.addEventListener('click', async () => {
      button.textContent = (await copied(block)) ? T.copied : T.selected;
      setTimeout(() => {
        button.textContent = T.copy;
      }, SHOWN_MS);
    });
  }
}

/** Returns false where pages may not write to the clipboard (http from another machine): then the text is selected. */
async function copied(block: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText((block.textContent ?? '').replace(/\n$/, ''));
    return true;
  } catch {
    window.getSelection()?.selectAllChildren(block);
    return false;
  }
}
