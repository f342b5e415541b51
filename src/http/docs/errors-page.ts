import { REFUSALS, type RefusalCode } from '../../domain/refusal.ts';
import { REFUSAL_MEANINGS } from './faults.ts';
import { type Contents, docsPage } from './frame.ts';
import { inlineHtml } from './html.ts';

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

export function errorsPage(contents: Contents): string {
  const main = `<h1>Error codes</h1>
<p>Every refusal is <code>application/problem+json</code> (RFC 9457). The end of <code>type</code> is the code.</p>
${faultTable()}`;
  return docsPage({ title: 'Error codes', current: '/docs/errors', main }, contents);
}
