// The search of the documentation: the index is loaded when the field is first used, and looked in here, so that it also works
// while the server is gone.

import { element } from './element.ts';
import { T } from './english.ts';
import { lookUp, type Place, type SearchIndex } from './look-up.ts';

let loading: Promise<SearchIndex> | null = null;

function loadIndex(): Promise<SearchIndex> {
  loading ??= fetch('/docs/search.json').then((answer) => {
    if (!answer.ok) throw new Error(String(answer.status));
    return answer.json() as Promise<SearchIndex>;
  });
  loading.catch(() => {
    loading = null;
  });
  return loading;
}

export function addSearch(): void {
  const host = document.getElementById('search');
  if (!host) return;
  host.className = 'search';
  host.setAttribute('role', 'search');
  const field = element('input', { type: 'search', 'aria-label': T.search.label, placeholder: T.search.hint });
  const panel = element('div', { class: 'found', hidden: '' });
  const said = element('p', { role: 'status' });
  const list = element('ul');
  panel.append(said, list);
  host.append(field, panel);

  const show = (places: readonly Place[], text: string): void => {
    said.textContent = text;
    list.replaceChildren(...places.map(itemOf));
    panel.hidden = false;
  };
  const look = async (): Promise<void> => {
    const asked = field.value.trim();
    if (asked === '') {
      panel.hidden = true;
      return;
    }
    try {
      const places = lookUp(await loadIndex(), asked);
      // A later key was faster.
      if (field.value.trim() !== asked) return;
      show(places, places.length === 0 ? T.search.none(asked) : T.search.count(places.length));
    } catch {
      show([], T.search.failed);
    }
  };
  field.addEventListener('focus', () => void loadIndex().catch(() => {}));
  field.addEventListener('input', () => void look());
  host.addEventListener('keydown', (event) => move(event, { field, panel, list }));
  list.addEventListener('click', () => {
    panel.hidden = true;
  });
  document.addEventListener('click', ({ target }) => {
    if (target instanceof Node && !host.contains(target)) panel.hidden = true;
  });
  document.addEventListener('keydown', (event) => {
    const isSlash = event.key === '/' && !isTyping(event.target);
    const isPalette = event.key === 'k' && (event.ctrlKey || event.metaKey);
    if (!isSlash && !isPalette) return;
    event.preventDefault();
    field.focus();
    field.select();
  });
}

function itemOf({ href, heading, page }: Place): HTMLElement {
  const where = element('span', { class: 'where' }, page);
  return element('li', {}, element('a', { href }, heading, ...(page === heading ? [] : [where])));
}

interface Parts {
  readonly field: HTMLInputElement;
  readonly panel: HTMLElement;
  readonly list: HTMLElement;
}

/** Arrows go through what was found, Enter opens the first place, Escape closes. */
function move(event: KeyboardEvent, { field, panel, list }: Parts): void {
  const links = [...list.querySelectorAll('a')];
  const at = links.findIndex((link) => link.matches(':focus'));
  if (event.key === 'Escape') {
    panel.hidden = true;
    field.focus();
  } else if (event.key === 'ArrowDown') links[Math.min(at + 1, links.length - 1)]?.focus();
  else if (event.key === 'ArrowUp') (at <= 0 ? field : links[at - 1])?.focus();
  else if (event.key === 'Enter' && at < 0) links[0]?.click();
  else return;
  event.preventDefault();
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]');
}
