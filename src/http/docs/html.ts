// The frame of every HTML page: one inline style sheet, named by its hash in the Content-Security-Policy, and no outside
// requests. Pages of the documentation have a script of this server's, too, and are whole without it; others have none.

import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { STYLE } from './style/style.ts';

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** What a browser may do with the server's own pages: show them. */
export const HTML_HEADERS = {
  'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
} as const;

/** Pages of the documentation run the script of the build, which asks this server alone and makes no HTML of text. */
export const DOCS_HEADERS = {
  ...HTML_HEADERS,
  'content-security-policy': [
    `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; script-src 'self'; connect-src 'self'; img-src 'self' data:`,
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  ].join('; '),
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-cache',
} as const;

export function sendHtml(reply: FastifyReply, page: string | Buffer): FastifyReply {
  return reply.headers(HTML_HEADERS).type('text/html; charset=utf-8').send(page);
}

/** Returns a whole page. `head`: more elements of its head. */
export function htmlPage(title: string, body: string, head = ''): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>${head}
</head>
<body>
${body}
</body>
</html>
`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] as string);
}

/** Returns as HTML a text with `code` marked by backquotes and paragraphs by empty lines, as the OpenAPI document has it. */
export function proseHtml(text: string): string {
  return text
    .split('\n\n')
    .map((paragraph) => `<p>${inlineHtml(paragraph)}</p>`)
    .join('\n');
}

/** Returns as HTML a text with `code` in backticks, **strong** words and [links](/docs/…) to pages of the documentation. */
export function inlineHtml(text: string): string {
  return escapeHtml(text)
    .replace(/`([^`]+)`/g, '<code>$1</code>')
    .replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
    .replace(/\[([^\]]+)\]\((\/docs[\w/#-]*)\)/g, '<a href="$2">$1</a>');
}
