// /docs: the OpenAPI document as a page, grouped by noun. Rendered here, so that it needs no script in the browser.

import type { ApiDocument, ApiOperation, MediaType } from '../openapi/document.ts';
import { faultTable } from './errors-page.ts';
import { gettingStarted } from './getting-started.ts';
import { escapeHtml, htmlPage, inlineHtml, proseHtml } from './html.ts';
import { parametersOf, parameterTable } from './parameters.ts';

interface OperationEntry {
  readonly method: string;
  readonly path: string;
  readonly operation: ApiOperation;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** Returns the page of all operations; `guides` are the links to the guides. */
export function docsPage(document: ApiDocument, guides: string): string {
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
  const body = `<div class="layout">${navigation(groups, guides)}<main>
<h1>Errand <span class="quiet">${escapeHtml(document.info.version)}</span></h1>
${proseHtml(document.info.description)}
<p class="quiet">For machines: <a href="/v1/openapi.json">OpenAPI 3.1</a>.</p>
${gettingStarted(publicUrl)}
${sections.join('\n')}
<h2 id="errors">Error codes</h2>
<p>Every refusal is <code>application/problem+json</code>; the end of its <code>type</code> is the code.</p>
${faultTable()}
</main></div>`;
  return htmlPage('Errand: documentation', body);
}

function operationsOf(document: ApiDocument, tag: string): OperationEntry[] {
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    METHODS.flatMap((method) => {
      const operation = methods[method];
      return operation?.tags.includes(tag) ? [{ method, path, operation }] : [];
    }),
  );
  return all;
}

function words(tag: string): string {
  return tag.replaceAll('_', ' ');
}

function navigation(
  groups: readonly { name: string; operations: readonly OperationEntry[] }[],
  guides: string,
): string {
  const links = groups.map(
    ({ name, operations }) => `<a class="group" href="#tag-${name}">${words(name)}</a>
${operations.map(({ operation }) => `<a class="item" href="#${operation.operationId}">${escapeHtml(operation.summary)}</a>`).join('\n')}`,
  );
  return `<nav><strong>Errand</strong>${guides}
<a class="group" href="#start">Getting started</a>
${links.join('\n')}
<a class="group" href="#errors">Error codes</a></nav>`;
}

/**
 * Returns an operation as HTML. The id is inside the element: a browser opens closed elements around the target of an address.
 */
function operationHtml(listed: OperationEntry, document: ApiDocument): string {
  const { method, path, operation } = listed;
  const parameters = parametersOf(operation, document);
  const answer = Object.entries(operation.responses).find(([status]) => status !== 'default');
  const example = exampleIn(answer?.[1].content);
  return `<details class="operation">
<summary><span class="method ${method}">${method.toUpperCase()}</span><span class="path">${escapeHtml(path)}</span><span class="says">${inlineHtml(operation.summary)}</span></summary>
<div id="${operation.operationId}">${proseHtml(operation.description)}
${parameters.length > 0 ? `<h4>Parameters</h4>${parameterTable(parameters)}` : ''}
<h4>Request</h4>${needed(operation)}<pre><code>${escapeHtml(curlOf(listed, document))}</code></pre>
<h4>Answer ${escapeHtml(answer?.[0] ?? '')}</h4><pre><code>${escapeHtml(shown(example))}</code></pre></div>
</details>`;
}

function needed({ security = [] }: ApiOperation): string {
  const scope = security[0]?.key?.[0];
  return scope === undefined ? '' : `<p>With a key that has the scope <code>${escapeHtml(scope)}</code>.</p>`;
}

function exampleIn(content: Readonly<Record<string, MediaType>> | undefined): unknown {
  return Object.values(content ?? {})[0]?.example;
}

function shown(example: unknown): string {
  return typeof example === 'string' ? example : JSON.stringify(example, null, 2);
}

/** Returns the request as a command. Path parameters have their example values. */
function curlOf({ method, path, operation }: OperationEntry, document: ApiDocument): string {
  const examples = new Map((operation.parameters ?? []).map((parameter) => [parameter.name, parameter.example]));
  const filled = path.replace(/\{(\w+)\}/g, (whole, name: string) => String(examples.get(name) ?? whole));
  const lines = [
    `curl -sS${method === 'get' ? '' : ` -X ${method.toUpperCase()}`} '${document.servers[0]?.url ?? ''}${filled}'`,
  ];
  if (operation.security?.length !== 0) lines.push(`-H "Authorization: Bearer $KEY"`);
  const body = exampleIn(operation.requestBody?.content);
  if (body !== undefined) {
    const [type] = Object.keys(operation.requestBody?.content ?? {});
    lines.push(`-H 'Content-Type: ${type}'`, `-d '${shown(body).replaceAll("'", "'\\''")}'`);
  }
  return lines.join(' \\\n  ');
}
