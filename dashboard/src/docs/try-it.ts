// A form for each operation, made when it is first wanted: the document and the session are asked for once.

import type { Session } from '../../../src/client/client.ts';
import { mayBeSignedIn } from '../api/signed-in.ts';
import { element } from './element.ts';
import { T } from './english.ts';
import type { Operation, Parameter } from './request.ts';
import { addForm } from './try-form.ts';

interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

let loading: Promise<ApiDocument> | null = null;

function loadDocument(): Promise<ApiDocument> {
  loading ??= fetch('/v1/openapi.json').then((answer) => {
    if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`);
    return answer.json() as Promise<ApiDocument>;
  });
  loading.catch(() => {
    loading = null;
  });
  return loading;
}

/** Returns the session of the dashboard in this browser; null: it is signed out. */
async function findSession(): Promise<Session | null> {
  if (!mayBeSignedIn()) return null;
  const answer = await fetch('/v1/session', { headers: { 'x-errand-dashboard': '1' }, credentials: 'same-origin' });
  if (answer.status === 401) return null;
  if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`);
  return ((await answer.json()) as { data: Session }).data;
}

export function addTryIt(): void {
  for (const details of document.querySelectorAll<HTMLDetailsElement>('details.operation')) {
    const host = element('div', { class: 'try' });
    const button = element('button', { type: 'button', class: 'plain-button' }, T.tryIt.open);
    host.append(element('h4', {}, T.tryIt.title), button);
    details.querySelector('.inside')?.append(host);
    button.addEventListener('click', () => void open(details, host, button));
  }
}

async function open(details: HTMLDetailsElement, host: HTMLElement, button: HTMLButtonElement): Promise<void> {
  const { method = 'get', path = '' } = details.dataset;
  for (const old of host.querySelectorAll('p, form')) old.remove();
  const said = element('p', { role: 'status', class: 'quiet' }, T.tryIt.checking);
  host.append(said);
  button.disabled = true;
  try {
    const [session, document] = await Promise.all([findSession(), loadDocument()]);
    const operation = document.paths[path]?.[method];
    if (operation === undefined) throw new Error(path);
    if (session === null) {
      said.replaceChildren(
        T.tryIt.signedOut,
        element('a', { href: `/sign-in?next=${encodeURIComponent(`/docs#${operation.operationId}`)}` }, T.tryIt.signIn),
      );
      return;
    }
    said.textContent = T.tryIt.as(session.owner.name, session.key.label ?? '');
    button.remove();
    addForm(host, { method: method.toUpperCase(), path, operation, parameters: parametersOf(operation) });
  } catch (error) {
    said.textContent = T.tryIt.failed(error instanceof Error ? error.message : String(error));
  } finally {
    button.disabled = false;
  }
}

/** A member that both query and body can hold is filled in once, in the body. */
function parametersOf({ parameters = [], requestBody }: Operation): Parameter[] {
  const [media] = Object.values(requestBody?.content ?? {});
  const inBody = new Set(Object.keys(media?.schema?.properties ?? {}));
  return parameters.filter(({ in: place, name }) => place !== 'query' || !inBody.has(name));
}
