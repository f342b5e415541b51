/** The bar above a page of the documentation, its contents beside it, and the search. */
export const FRAME = `
.skip { position: absolute; left: -999px; }
.skip:focus { left: .5rem; top: .5rem; z-index: 9; padding: .4rem .7rem; background: var(--surface); }
.bar { position: sticky; top: 0; z-index: 3; display: flex; align-items: center; gap: .8rem; height: 3.4rem; padding: 0 1.4rem; background: var(--bg); border-bottom: 1px solid var(--line); }
.brand { display: flex; align-items: center; gap: .55rem; font-weight: 650; color: var(--text); text-decoration: none; letter-spacing: -.01em; }
.brand svg { width: 22px; height: 22px; flex: none; }
.bar .grow { flex: 1; }
.bar-link { color: var(--soft); text-decoration: none; font-weight: 500; font-size: .9rem; }
.bar-link:hover { color: var(--text); }
.plain-button { font: inherit; font-size: .85rem; font-weight: 500; color: var(--text); background: var(--surface); border: 1px solid var(--line); border-radius: 6px; padding: .2rem .65rem; cursor: pointer; }
.plain-button:hover { background: var(--hover); }
.contents-button { display: none; }
.layout { display: grid; grid-template-columns: 15.5rem minmax(0, 1fr); max-width: 88rem; margin: 0 auto; }
.layout:has(aside) { grid-template-columns: 15.5rem minmax(0, 1fr) 13.5rem; }
nav.contents { display: block; position: sticky; inset: auto; top: 3.4rem; width: auto; height: calc(100vh - 3.4rem); margin: 0; overflow-y: auto; padding: 1.2rem .6rem 2rem 1.4rem; border: 0; border-right: 1px solid var(--line); background: none; color: inherit; font-size: .875rem; }
.contents a { display: block; color: var(--soft); text-decoration: none; padding: .2rem .6rem; border-radius: 6px; }
.contents a:hover { background: var(--hover); color: var(--text); }
.contents .group { display: block; margin: 1rem 0 .2rem; padding: 0 .6rem; font-weight: 600; color: var(--text); }
.contents .group:first-child { margin-top: 0; }
.contents .group::first-letter { text-transform: uppercase; }
.contents a[aria-current] { background: var(--accent-soft); color: var(--accent-text); font-weight: 500; }
main.text { padding: 1.8rem 2.4rem 6rem; min-width: 0; }
aside { position: sticky; top: 3.4rem; max-height: calc(100vh - 3.4rem); overflow-y: auto; padding: 1.8rem 1.2rem 2rem 0; font-size: .8125rem; }
aside h2 { margin: 0 0 .3rem; font-size: .8rem; }
aside a { display: block; color: var(--soft); text-decoration: none; padding: .15rem 0; overflow-wrap: anywhere; }
aside a:hover { color: var(--text); }
aside code { background: none; border: 0; padding: 0; }
.guide p, .guide li { max-width: 46rem; }
.guide li { margin: .2rem 0; }
.guide ul, .guide ol { padding-left: 1.3rem; }
.guide .table { margin: .8rem 0 1.2rem; }
.search { position: relative; width: min(22rem, 100%); }
.search input { width: 100%; font: inherit; font-size: .875rem; color: var(--text); background: var(--surface); border: 1px solid var(--line); border-radius: 7px; padding: .3rem .7rem; }
.search input::placeholder { color: var(--soft); opacity: 1; }
.found { position: absolute; right: 0; top: calc(100% + .4rem); width: min(34rem, calc(100vw - 1.6rem)); max-height: min(34rem, 75vh); overflow-y: auto; background: var(--raised); border: 1px solid var(--line); border-radius: 8px; box-shadow: var(--shadow); padding: .3rem; }
.found ul { list-style: none; margin: 0; padding: 0; }
.found a { display: block; padding: .4rem .6rem; border-radius: 6px; color: var(--text); text-decoration: none; overflow-wrap: anywhere; }
.found a:hover, .found a:focus { background: var(--accent-soft); color: var(--accent-text); }
.found .where { display: block; color: var(--soft); font-size: .8rem; }
.found p { margin: .4rem .6rem; color: var(--soft); font-size: .875rem; }
.copyable { position: relative; }
.copy-button { position: absolute; top: .4rem; right: .4rem; opacity: 0; }
.copyable:hover .copy-button, .copy-button:focus { opacity: 1; }
@media (hover: none) { .copy-button { opacity: 1; } }
@media (max-width: 74rem) {
  .layout:has(aside) { grid-template-columns: 15.5rem minmax(0, 1fr); }
  aside { display: none; }
}
@media (max-width: 50rem) {
  .layout, .layout:has(aside) { grid-template-columns: minmax(0, 1fr); }
  .bar { padding: 0 .9rem; gap: .6rem; }
  .brand span { display: none; }
  .contents-button { display: block; }
  nav.contents { position: fixed; inset: 3.4rem auto 0 0; width: min(20rem, 86vw); height: auto; border-right: 1px solid var(--line); background: var(--bg); box-shadow: var(--shadow); }
  nav.contents:not(:popover-open) { display: none; }
  main.text { padding: 1.2rem .9rem 4rem; }
}
`;
