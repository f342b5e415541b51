/** The operations of the HTTP API: parameters, samples, and the form that tries one. */
export const REFERENCE = `
main.text > p { max-width: 50rem; }
h2.tag { border-top: 1px solid var(--line); padding-top: 1.8rem; }
h2.tag::first-letter { text-transform: uppercase; }
.operation { background: var(--surface); border: 1px solid var(--line); border-radius: 8px; margin: .6rem 0; }
.operation > summary { cursor: pointer; display: flex; flex-wrap: wrap; gap: .2rem .7rem; align-items: baseline; padding: .55rem .9rem; list-style: none; border-radius: 8px; }
.operation > summary::-webkit-details-marker { display: none; }
.operation > summary:hover { background: var(--hover); }
.operation > .inside { padding: .4rem 1rem 1rem; border-top: 1px solid var(--line-soft); }
.operation:has(:target) > summary, tr:target td { background: var(--accent-soft); }
.method { font: 600 .72rem/1.6 var(--mono); min-width: 3.9rem; text-align: center; border: 1px solid currentColor; border-radius: 5px; padding: 0 .4rem; }
.get { color: var(--accent-text); } .post { color: var(--good); } .put, .patch { color: var(--warn); } .delete { color: var(--bad); }
.path { font-family: var(--mono); font-size: .85rem; overflow-wrap: anywhere; min-width: 0; }
.says { color: var(--soft); margin-left: auto; font-size: .875rem; }
.must { color: var(--bad); font-size: .75rem; white-space: nowrap; }
.parameters td:first-child { overflow-wrap: anywhere; min-width: 17rem; }
.parameters td[data-label="Type"] { font-family: var(--mono); font-size: .78rem; overflow-wrap: anywhere; }
.level-1 { padding-left: 1rem; } .level-2 { padding-left: 2rem; } .level-3 { padding-left: 3rem; } .level-4 { padding-left: 4rem; }
.samples { margin: .4rem 0 1rem; }
.samples > details > summary { cursor: pointer; font-size: .85rem; font-weight: 500; padding: .2rem .1rem; color: var(--soft); }
.samples > details[open] > summary { color: var(--accent-text); }
.samples pre { margin: .3rem 0 .6rem; }
@supports selector(::details-content) {
  .samples { display: grid; grid-template-columns: auto auto auto 1fr; }
  .samples > details { display: contents; }
  .samples > details > summary { list-style: none; padding: .3rem .8rem; border-bottom: 2px solid transparent; grid-row: 1; }
  .samples > details > summary::-webkit-details-marker { display: none; }
  .samples > details[open] > summary { border-color: var(--accent); }
  .samples > details::details-content { grid-row: 2; grid-column: 1 / -1; min-width: 0; }
}
.try { margin-top: 1rem; padding-top: .9rem; border-top: 1px solid var(--line-soft); }
.try form { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(16rem, 100%), 1fr)); gap: .7rem 1rem; margin-top: .7rem; }
.try label { display: block; font-size: .8rem; font-weight: 500; overflow-wrap: anywhere; }
.try input, .try select, .try textarea { display: block; width: 100%; margin-top: .2rem; font: .85rem/1.5 var(--mono); color: var(--text); background: var(--bg); border: 1px solid var(--line); border-radius: 6px; padding: .3rem .6rem; }
.try textarea { min-height: 9rem; resize: vertical; }
.try .whole { grid-column: 1 / -1; }
.try .acts { display: flex; flex-wrap: wrap; align-items: center; gap: .7rem; }
.try .answered { font-size: .85rem; margin: .8rem 0 .3rem; }
.try pre { max-height: 28rem; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; }
.try .fault { color: var(--bad); }
dialog.sure { max-width: min(30rem, calc(100vw - 2rem)); border: 1px solid var(--line); border-radius: 10px; background: var(--raised); color: var(--text); box-shadow: var(--shadow); padding: 1.2rem 1.4rem; }
dialog.sure::backdrop { background: rgb(0 0 0 / 40%); }
dialog.sure p { overflow-wrap: anywhere; }
dialog.sure .acts { display: flex; justify-content: flex-end; gap: .6rem; margin-top: 1rem; }
.button.danger { background: var(--bad); }
@media (max-width: 600px) { .parameters td:first-child { min-width: 0; } .says { margin-left: 0; width: 100%; } .level-1, .level-2, .level-3, .level-4 { padding-left: 0; } }
`;
