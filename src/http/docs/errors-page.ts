import { REFUSALS, type RefusalCode } from '../../domain/fault.ts';
import { REFUSAL_MEANINGS } from './faults.ts';
import { htmlPage, inlineHtml } from './html.ts';

/** Returns the table of refusals; `type` of every problem points to its row. */
export function faultTable(): string {
  const rows = (Object.keys(REFUSALS) as RefusalCode[]).map((code) => {
    const { status, title } = REFUSALS[code];
    const cells = [`<code>${code}</code>`, String(status), inlineHtml(title), inlineHtml(REFUSAL_MEANINGS[code])];
    return `<tr id="${code}">${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
  });
  return `<div class="table"><table><thead><tr><th>Code</th><th>Status</th><th>Title</th><th>When</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table></div>`;
}

export function errorsPage(): string {
  return htmlPage(
    'Errors – Errand',
    `<main><h1>Errors</h1>
<p>Every refusal is <code>application/problem+json</code> (RFC 9457). The end of <code>type</code> is the code.</p>
${faultTable()}
<p><a href="/docs">All of the documentation</a></p></main>`,
  );
}
