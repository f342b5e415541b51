// The one style sheet of all pages that the server itself makes.

import { COLOURS } from './colours.ts';
import { FRAME } from './frame.ts';
import { REFERENCE } from './reference.ts';

const TEXT = `
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 4.5rem; background: var(--bg); }
body { margin: 0; background: var(--bg); color: var(--text); font: 15px/1.6 var(--sans); -webkit-font-smoothing: antialiased; }
a { color: var(--accent-text); text-underline-offset: 2px; }
code, pre { font-family: var(--mono); font-size: .875em; }
code { background: var(--code); border: 1px solid var(--line-soft); border-radius: 4px; padding: .05em .3em; overflow-wrap: anywhere; }
pre { background: var(--code); border: 1px solid var(--line); border-radius: 8px; padding: .8rem 1rem; overflow-x: auto; line-height: 1.55; margin: .4rem 0 1rem; }
pre code { background: none; border: 0; padding: 0; font-size: 1em; overflow-wrap: normal; }
pre:has(+ pre.printed), .copyable:has(+ .copyable > pre.printed) > pre { margin-bottom: 0; border-radius: 8px 8px 0 0; }
pre.printed { margin-top: 0; border-top: 0; border-radius: 0 0 8px 8px; background: none; color: var(--soft); }
pre.wrapped code { white-space: pre-wrap; overflow-wrap: anywhere; }
h1, h2, h3 { font-weight: 600; letter-spacing: -.01em; line-height: 1.3; }
h1 { font-size: 1.75rem; margin: 0 0 .6rem; letter-spacing: -.02em; overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; margin: 2.6rem 0 .4rem; }
h3 { font-size: 1.05rem; margin: 1.6rem 0 .3rem; }
h3.part { font-size: .8rem; color: var(--soft); margin: 1.1rem 0 .3rem; letter-spacing: 0; }
p { margin: .5rem 0; }
img { max-width: 100%; height: auto; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; border-radius: 4px; }
.quiet { color: var(--soft); }
.table { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .875rem; }
th, td { text-align: left; vertical-align: top; padding: .45rem .9rem .45rem 0; border-bottom: 1px solid var(--line-soft); }
table:not(.parameters) td:first-child code { overflow-wrap: break-word; }
th { font-weight: 600; color: var(--soft); font-size: .8rem; border-color: var(--line); }
.button, .page button { border: 0; font: inherit; cursor: pointer; display: inline-block; background: var(--accent); color: var(--bg); text-decoration: none; border-radius: 7px; padding: .45rem .9rem; font-weight: 600; }
.front { max-width: 36rem; margin: 14vh auto 0; text-align: center; padding: 0 1rem; }
.front .button { margin: 1rem 0; }
.page { max-width: 46rem; margin: 4vh auto 0; padding: 0 1rem; }
.page form { display: inline-block; margin: 1rem .7rem 1rem 0; }
.page h1 { font-size: 1.5rem; }
.page td { overflow-wrap: anywhere; }
@media (max-width: 600px) {
  table, tbody, tr, td { display: block; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  tr { padding: .5rem 0; border-bottom: 1px solid var(--line); }
  td { border: 0; padding: .1rem 0; overflow-wrap: anywhere; white-space: normal; }
  td:empty { display: none; }
  td:first-child { font-weight: 600; }
  td[data-label]:not([data-label=""])::before { content: attr(data-label) ": "; color: var(--soft); font-size: .8rem; }
}
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
`;

/** Light and dark come from the browser's preference. */
export const STYLE = COLOURS + TEXT + FRAME + REFERENCE;
