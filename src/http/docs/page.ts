// /docs: the OpenAPI document as a page, grouped by noun. Rendered here, so that it needs no script in the browser.

import { REFUSALS } from '../../domain/refusal.ts';
import type { ApiDocument, ApiOperation, MediaType } from '../openapi/document.ts';
import { refusalsOf } from '../openapi/refusals.ts';
import { faultTable, refusalExample } from './errors-page.ts';
import { type Contents, docsPage, type NavigationGroup } from './frame.ts';
import { gettingStarted } from './getting-started.ts';
import { escapeHtml, inlineHtml, proseHtml } from './html.ts';
import { parametersOf, parameterTable } from './parameters.ts';
import { type OperationEntry, sampleOf } from './samples/request.ts';
import { samplesOf } from './samples/samples.ts';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** Returns the page of all operations. */
export function referencePage(document: ApiDocument, contents: Contents): string {
  const publicUrl = document.servers[0]?.url ?? '';
  const groups = document.tags.map((tag) => ({ ...tag, operations: operationsOf(document, tag.name) }));
  const sections = groups.map(
    ({
      name,
      description,
      operations,
    }) => `<h2 class="tag" id="tag-${name}">${words(name)}</h2>${proseHtml(description)}
${operations.map((listed) => operationHtml(listed, document)).join('\n')}`,
  );
  const main = `<h1>HTTP API <span class="quiet">${escapeHtml(document.info.version)}</span></h1>
${proseHtml(document.info.description)}
<p class="quiet">For machines: <a href="/v1/openapi.json">OpenAPI 3.1</a>.</p>
${gettingStarted(publicUrl)}
${sections.join('\n')}
<h2 id="errors">Error codes</h2>
${refusalExample()}
${faultTable()}`;
  return docsPage({ title: 'HTTP API', current: '/docs', main, more: navigation(groups) }, contents);
}

export function operationsOf(document: ApiDocument, tag: string): OperationEntry[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    METHODS.flatMap((method) => {
      const operation = methods[method];
      return operation?.tags.includes(tag) ? [{ method, path, operation }] : [];
    }),
  );
}

function words(tag: string): string {
  return tag.replaceAll('_', ' ');
}

function navigation(
  groups: readonly { name: string; operations: readonly OperationEntry[] }[],
): readonly NavigationGroup[] {
  const ofTags = groups.map(({ name, operations }) => ({
    title: words(name),
    links: operations.map(({ operation }) => ({ href: `#${operation.operationId}`, title: operation.summary })),
  }));
  const start = [
    { href: '#start', title: 'Getting started' },
    { href: '#errors', title: 'Error codes' },
  ];
  return [{ title: 'On this page', links: start }, ...ofTags];
}

/**
 * Returns an operation as HTML. The id is inside the element: a browser opens closed elements around the target of an address.
 */
function operationHtml(listed: OperationEntry, document: ApiDocument): string {
  const { method, path, operation } = listed;
  const parameters = parametersOf(operation, document);
  const answer = Object.entries(operation.responses).find(([status]) => status !== 'default');
  const example = exampleIn(answer?.[1].content);
  return `<details class="operation" data-method="${method}" data-path="${escapeHtml(path)}">
<summary><span class="method ${method}">${method.toUpperCase()}</span><span class="path">${escapeHtml(path)}</span><span class="says">${inlineHtml(operation.summary)}</span></summary>
<div class="inside" id="${operation.operationId}">${proseHtml(operation.description)}
${parameters.length > 0 ? `<h3 class="part">Parameters</h3>${parameterTable(parameters)}` : ''}
<h3 class="part">Request</h3>${needed(operation)}${samplesHtml(listed, document)}
<h3 class="part">Answer ${escapeHtml(answer?.[0] ?? '')}</h3><pre tabindex="0"><code>${escapeHtml(shown(example))}</code></pre>
<h3 class="part">Errors</h3>${refusalsHtml(operation)}</div>
</details>`;
}

/** Returns the request in each language; one is open at a time, which needs no script. */
function samplesHtml(listed: OperationEntry, document: ApiDocument): string {
  const request = sampleOf(listed, document);
  const all = samplesOf(request).map(({ language, code }, at) => {
    const open = at === 0 ? ' open' : '';
    return `<details name="sample-${request.id}" data-language="${language}"${open}><summary>${language}</summary><pre tabindex="0"><code>${escapeHtml(code)}</code></pre></details>`;
  });
  return `<div class="samples">${all.join('')}</div>`;
}

function needed({ security = [] }: ApiOperation): string {
  const scope = security[0]?.key?.[0];
  return scope === undefined ? '' : `<p>With a key that has the scope <code>${escapeHtml(scope)}</code>.</p>`;
}

/** Returns links to what may be wrong with a request. */
function refusalsHtml(operation: ApiOperation): string {
  const links = refusalsOf(operation).map(
    (code) => `<a href="/docs/errors#${code}">${REFUSALS[code].status} <code>${code}</code></a>`,
  );
  return `<p>${links.join(', ')}, and what the description names.</p>`;
}

function exampleIn(content: Readonly<Record<string, MediaType>> | undefined): unknown {
  return Object.values(content ?? {})[0]?.example;
}

function shown(example: unknown): string {
  return typeof example === 'string' ? example : JSON.stringify(example, null, 2);
}
