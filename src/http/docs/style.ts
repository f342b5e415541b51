/** The one style sheet. Light and dark come from the browser's preference. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --bg: #fbfbfa; --panel: #ffffff; --ink: #1d1f23; --quiet: #5f6670; --line: #e3e4e1; --accent: #0b6b4f; --code: #f3f4f1;
  --get: #0b5fa5; --post: #0b6b4f; --put: #8a5a00; --delete: #a8281e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --bg: #121416; --panel: #191c1f; --ink: #e8e9e6; --quiet: #9ba3ad; --line: #2b2f34; --accent: #5bd0a6; --code: #0d0f11;
    --get: #6cb6ff; --post: #5bd0a6; --put: #e3b341; --delete: #ff8a80;
  }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 1rem; }
body { margin: 0; background: var(--bg); color: var(--ink); font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
a { color: var(--accent); }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .875em; }
code { background: var(--code); border-radius: 4px; padding: .1em .3em; overflow-wrap: anywhere; }
pre { background: var(--code); border: 1px solid var(--line); border-radius: 8px; padding: .8rem 1rem; overflow-x: auto; line-height: 1.5; margin: .4rem 0 1rem; }
pre code { background: none; padding: 0; overflow-wrap: normal; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .5rem; letter-spacing: -.02em; }
h2 { font-size: 1.4rem; margin: 3rem 0 .3rem; padding-top: 1rem; border-top: 1px solid var(--line); letter-spacing: -.01em; }
h3 { font-size: 1.05rem; margin: 1.2rem 0 .3rem; }
h4 { font-size: .75rem; text-transform: uppercase; letter-spacing: .06em; color: var(--quiet); margin: 1rem 0 .2rem; }
p { margin: .4rem 0; }
.quiet { color: var(--quiet); }
.layout { display: grid; grid-template-columns: 15rem minmax(0, 1fr); max-width: 78rem; margin: 0 auto; }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.6rem 1rem 2rem 1.5rem; border-right: 1px solid var(--line); font-size: .875rem; }
nav strong { display: block; font-size: 1.05rem; margin-bottom: .6rem; }
nav a { display: block; color: inherit; text-decoration: none; padding: .12rem 0; }
nav a:hover { color: var(--accent); }
nav .group { font-weight: 600; margin-top: .8rem; }
nav .group::first-letter { text-transform: uppercase; }
nav .item { color: var(--quiet); padding-left: .7rem; border-left: 1px solid var(--line); }
main { padding: 1.6rem 2rem 6rem; min-width: 0; }
h2.tag::first-letter { text-transform: uppercase; }
.operation { background: var(--panel); border: 1px solid var(--line); border-radius: 10px; margin: .7rem 0; }
.operation > summary { cursor: pointer; display: flex; flex-wrap: wrap; gap: .3rem .7rem; align-items: baseline; padding: .6rem .9rem; list-style: none; }
.operation > summary::-webkit-details-marker { display: none; }
.operation > summary:hover { background: var(--code); border-radius: 10px; }
.operation > div { padding: .2rem 1rem 1rem; border-top: 1px solid var(--line); scroll-margin-top: 4rem; }
.method { font: 600 .75rem/1.6 ui-monospace, Menlo, Consolas, monospace; min-width: 3.9rem; text-align: center; border: 1px solid currentColor; border-radius: 5px; padding: 0 .4rem; }
.get { color: var(--get); } .post { color: var(--post); } .put { color: var(--put); } .delete { color: var(--delete); }
.path { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: .875rem; overflow-wrap: anywhere; }
.says { color: var(--quiet); margin-left: auto; font-size: .875rem; }
.table { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .875rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem .7rem .35rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; color: var(--quiet); font-size: .75rem; }
td:first-child { white-space: nowrap; }
.must { color: var(--delete); font-size: .75rem; }
tr:target td, .operation:has(:target) > summary { background: color-mix(in srgb, var(--accent) 12%, transparent); }
nav strong a { color: inherit; padding: 0; }
nav span.group { display: block; }
nav .guide { color: var(--quiet); padding-left: .7rem; border-left: 1px solid var(--line); }
nav .guide[aria-current] { color: var(--accent); border-color: var(--accent); font-weight: 600; }
.layout:has(aside) { grid-template-columns: 15rem minmax(0, 1fr) 14rem; max-width: 92rem; }
aside { position: sticky; top: 0; max-height: 100vh; overflow-y: auto; padding: 1.6rem 1.2rem 2rem 0; font-size: .8125rem; }
aside a { display: block; color: var(--quiet); text-decoration: none; padding: .15rem 0; }
aside a:hover { color: var(--accent); }
aside code { background: none; padding: 0; }
main.guide p, main.guide li { max-width: 46rem; }
main.guide li { margin: .2rem 0; }
main.guide ul, main.guide ol { padding-left: 1.3rem; }
main.guide h3 { font-size: 1.1rem; margin-top: 2rem; }
main.guide .table { margin: .8rem 0 1.2rem; }
.front { max-width: 36rem; margin: 14vh auto 0; text-align: center; }
.page { max-width: 46rem; margin: 4vh auto 0; }
.page form { display: inline-block; margin-right: .7rem; }
.page h1 { font-size: 1.5rem; overflow-wrap: anywhere; }
.page td { overflow-wrap: anywhere; }
pre.wrapped code { white-space: pre-wrap; overflow-wrap: anywhere; }
.button { border: 0; font: inherit; cursor: pointer; display: inline-block; background: var(--accent); color: var(--bg); text-decoration: none; border-radius: 8px; padding: .6rem 1.1rem; margin: 1rem 0; font-weight: 600; }
@media (max-width: 74rem) {
  .layout:has(aside) { grid-template-columns: 15rem minmax(0, 1fr); }
  aside { display: none; }
}
@media (max-width: 50rem) {
  .layout { grid-template-columns: minmax(0, 1fr); }
  nav { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); }
  .layout:has(aside) { grid-template-columns: minmax(0, 1fr); }
  aside { display: none; }
  nav .item { display: none; }
  main { padding: 1rem 1rem 4rem; }
  .says { margin-left: 0; width: 100%; }
}
`;
