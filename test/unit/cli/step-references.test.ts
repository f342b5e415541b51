// References to imported steps that have got other names.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeWithNames, valueWithNames } from '../../../src/cli/import/references.ts';

const RENAMES = new Map([
  ['getCat', 'get_cat'],
  ['b', 'b_2'],
  ['prüfeTotal', 'pr_fe_total'],
]);

test('members of the variable follow the names, and nothing else does', async () => {
  const codes: [string, string][] = [
    ['steps.getCat.$return_value + steps.getCats.x', 'steps.get_cat.$return_value + steps.getCats.x'],
    ['steps?.getCat?.x', 'steps?.get_cat?.x'],
    ['steps\n  .getCat as string', 'steps\n  .get_cat as string'],
    ['f(...steps.getCat)', 'f(...steps.get_cat)'],
    ['steps.prüfeTotal + steps.prüfe', 'steps.pr_fe_total + steps.prüfe'],
    [
      `[steps["getCat"].x, steps?.['getCat'], steps[\`b\`]]`,
      `[steps["get_cat"].x, steps?.['get_cat'], steps[\`b_2\`]]`,
    ],
    ['const { getCat, b: other, c = 1 } = steps;', 'const { get_cat: getCat, b_2: other, c = 1 } = steps;'],
    ['const { getCat = {}, b: { d } } = steps;', 'const { get_cat: getCat = {}, b_2: { d } } = steps;'],
    [
      'defineComponent({ run({ steps: { getCat, trigger }, $ }) {} })',
      'defineComponent({ run({ steps: { get_cat: getCat, trigger }, $ }) {} })',
    ],
    ['const { getCat } = steps.b;', 'const { getCat } = steps.b_2;'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: code with a template
    ['`steps.getCat ${steps.getCat}`', '`steps.getCat ${steps.get_cat}`'],
  ];
  for (const [there, here] of codes) assert.equal((await codeWithNames(there, RENAMES)).text, here);
  for (const same of [
    '[mysteps.getCat, getCat(), { getCat }, this.getCat]',
    'body.steps.getCat + body?.steps.getCat + body.steps["getCat"] + body\n  .steps.getCat',
    'send({ steps: { getCat: 42, b } })',
    'send("see steps.getCat", "{{steps.getCat.x}}", /steps.getCat/) // steps.getCat',
    'not code: steps.getCat (',
  ]) {
    const { text, changedLines } = await codeWithNames(same, RENAMES);
    assert.deepEqual([text, changedLines], [same, []]);
  }
});

test('what cannot be told is told by its line', async () => {
  const { text, changedLines, unclearLines } = await codeWithNames(
    [
      'export default ({ steps, $ }) => {',
      '  const all = steps;',
      '  for (const name of names) use(steps[name]);',
      '  const { getCat, ...rest } = steps;',
      '  return total({ steps }, all, rest, steps.trigger.event);',
      '}',
    ].join('\n'),
    RENAMES,
  );
  assert.deepEqual([changedLines, unclearLines], [[4], [2, 3, 4]]);
  assert.match(text, /\{ get_cat: getCat, \.\.\.rest \} = steps/);
  assert.deepEqual((await codeWithNames('export default ({ steps: s }) => s.getCat;', RENAMES)).unclearLines, [1]);
});

test('code with a variable of its own of that name stays as it is', async () => {
  for (const declaration of [
    'const steps = list()',
    'const { steps } = body',
    'let steps',
    'try {} catch (steps) {}',
  ]) {
    const code = `export default ({ body }) => {\n${declaration};\nreturn steps.getCat;\n}`;
    const { text, ownLines } = await codeWithNames(code, RENAMES);
    assert.deepEqual([text, ownLines], [code, [2]], declaration);
  }
});

test('of props, expressions follow the names, and texts do not', async () => {
  assert.deepEqual(
    await valueWithNames(
      { a: ['{{steps.b.x}} as steps.b', 1, null], steps: { b: true }, c: '{{ x.steps.b }}', d: 'steps.b' },
      RENAMES,
    ),
    { a: ['{{steps.b_2.x}} as steps.b', 1, null], steps: { b: true }, c: '{{ x.steps.b }}', d: 'steps.b' },
  );
  assert.equal(
    await valueWithNames('{{steps.getCat.$return_value}} and {{ steps.trigger.event.b }}', RENAMES),
    '{{steps.get_cat.$return_value}} and {{steps.trigger.event.b}}',
  );
});
