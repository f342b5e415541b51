// The form of one operation: a field for each parameter, the body as text, and the answer below.

import { element } from './element.ts';
import { T } from './english.ts';
import { addressOf, type Filled, type Operation, type Parameter, readAnswer, sendFilled } from './request.ts';

export interface Tried {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
  readonly parameters: readonly Parameter[];
}

type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

export function addForm(host: HTMLElement, tried: Tried): void {
  const { method, path, operation, parameters } = tried;
  const fields = parameters.map((parameter) => ({ parameter, field: fieldOf(parameter) }));
  const [type, media] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  const body = type === undefined ? null : element('textarea', { spellcheck: 'false' });
  if (body) body.value = exampleText(media?.example);
  const send = element('button', { type: 'submit', class: 'button' }, T.tryIt.send);
  const stop = element('button', { type: 'button', class: 'plain-button', hidden: '' }, T.tryIt.stop);
  const form = element(
    'form',
    {},
    ...fields.map(({ parameter, field }) => labelled(labelOf(parameter), field)),
    ...(body === null ? [] : [labelled(`${T.tryIt.body} (${type})`, body, 'whole')]),
    element('div', { class: 'whole acts' }, send, stop),
  );
  const said = element('p', { role: 'status', class: 'answered' });
  const shown = element('pre', { tabindex: '0', hidden: '' });
  host.append(form, said, shown);
  const filled = (): Filled => ({
    ...{ method, path },
    parameters: fields.map(({ parameter: { name, in: place }, field }) => ({ name, in: place, value: field.value })),
    body: body && type !== undefined ? { type, text: body.value } : null,
  });
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const request = filled();
    if (method !== 'GET' && !(await isSure(request))) return;
    send.disabled = true;
    await exchange(request, { said, shown, stop });
    send.disabled = false;
  });
}

interface Shown {
  readonly said: HTMLElement;
  readonly shown: HTMLElement;
  readonly stop: HTMLButtonElement;
}

async function exchange(request: Filled, { said, shown, stop }: Shown): Promise<void> {
  const ending = new AbortController();
  const end = (): void => ending.abort();
  stop.addEventListener('click', end);
  stop.hidden = false;
  shown.hidden = true;
  said.className = 'answered';
  said.textContent = T.tryIt.sending;
  const beganAt = performance.now();
  try {
    const answer = await sendFilled(request, ending.signal);
    said.textContent = T.tryIt.answered(answer.status, answer.statusText, Math.round(performance.now() - beganAt));
    shown.hidden = false;
    if (!answer.ok) said.className = 'answered fault';
    await readAnswer(answer, (text) => {
      shown.textContent = text;
    });
  } catch (error) {
    if (ending.signal.aborted) shown.append(T.tryIt.stopped);
    else said.textContent = T.tryIt.failed(error instanceof Error ? error.message : String(error));
  } finally {
    stop.hidden = true;
    stop.removeEventListener('click', end);
  }
}

/** Asks before anything is sent that may change something. */
function isSure(request: Filled): Promise<boolean> {
  const { method } = request;
  const cancel = element('button', { type: 'button', class: 'plain-button', autofocus: '' }, T.tryIt.cancel);
  const go = element(
    'button',
    { type: 'button', class: method === 'DELETE' ? 'button danger' : 'button' },
    T.tryIt.send,
  );
  const address = element('code', {}, T.tryIt.sure(method, addressOf(request)));
  const dialog = element(
    'dialog',
    { class: 'sure', 'aria-label': T.tryIt.sureWhy },
    element('p', {}, address),
    element('p', {}, T.tryIt.sureWhy),
    element('div', { class: 'acts' }, cancel, go),
  );
  document.body.append(dialog);
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue === 'send');
    });
    cancel.addEventListener('click', () => dialog.close());
    go.addEventListener('click', () => dialog.close('send'));
    dialog.showModal();
  });
}

function fieldOf({ in: place, required, example, schema }: Parameter): Field {
  const isRequired = required === true || place === 'path';
  const attributes: Record<string, string> = { autocomplete: 'off', spellcheck: 'false' };
  if (isRequired) attributes.required = '';
  if (schema?.enum) {
    const options = schema.enum.map((value) => element('option', {}, String(value)));
    return element('select', attributes, ...(isRequired ? [] : [element('option', { value: '' }, '')]), ...options);
  }
  if (example !== undefined && example !== null) attributes.placeholder = String(example);
  return element('input', { type: 'text', ...attributes });
}

function labelOf({ name, in: place, required }: Parameter): string {
  return `${name} (${place}${required === true || place === 'path' ? `, ${T.tryIt.required}` : ''})`;
}

function labelled(text: string, field: Field, kind = ''): HTMLElement {
  return element('label', kind === '' ? {} : { class: kind }, text, field);
}

function exampleText(example: unknown): string {
  if (example === undefined) return '';
  return typeof example === 'string' ? example : JSON.stringify(example, null, 2);
}
