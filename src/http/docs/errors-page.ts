import { REFUSALS, type RefusalCode } from '../../domain/refusal.ts';
import { REFUSAL_MEANINGS } from './faults.ts';
import { type Contents, docsPage } from './frame.ts';
import { escapeHtml, inlineHtml } from './html.ts';

const COLUMNS = ['Code', 'Status', 'Title', 'When'];

/** Returns the table of refusals; `type` of every problem points to its row. */
export function faultTable(): string {
  const rows = (Object.keys(REFUSALS) as RefusalCode[]).map((code) => {
    const { status, title } = REFUSALS[code];
    const cells = [`<code>${code}</code>`, String(status), inlineHtml(title), inlineHtml(REFUSAL_MEANINGS[code])];
    return `<tr id="${code}">${cells.map((cell, at) => `<td data-label="${COLUMNS[at]}">${cell}</td>`).join('')}</tr>`;
  });
  return `<div class="table"><table><thead><tr>${COLUMNS.map((name) => `<th>${name}</th>`).join('')}</tr></thead>
<tbody>${rows.join('\n')}</tbody></table></div>`;
}

/** Returns what every refusal has in common, with an example. */
export function refusalExample(): string {
  const problem = {
    type: '/docs/errors#malformed',
    title: REFUSALS.malformed.title,
    status: REFUSALS.malformed.status,
    detail: 'limit must be a whole number from 1 to 100, but was 0',
    error: 'limit must be a whole number from 1 to 100, but was 0',
    errors: [{ parameter: 'limit', message: 'must be a whole number from 1 to 100, but was 0' }],
  };
  return `<p>An error answer is <code>application/problem+json</code> (RFC 9457). The end of <code>type</code> is the code, which does not change; <code>detail</code> says in words what was wrong, and <code>errors</code> names each wrong parameter.</p>
<pre tabindex="0"><code>${escapeHtml(JSON.stringify(problem, null, 2))}</code></pre>`;
}

export function errorsPage(contents: Contents): string {
  const main = `<h1>Error codes</h1>
${refusalExample()}
${faultTable()}`;
  return docsPage({ title: 'Error codes', current: '/docs/errors', main }, contents);
}
