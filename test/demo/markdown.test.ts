import assert from 'node:assert/strict';
import test from 'node:test';
import { blocksOf, headingsOf, isPromised, linksOf, tableOf } from './markdown.ts';

const DOCUMENT = `# A title: with \`code\`

\`\`\`sh
echo 1
\`\`\`

Some prose.

\`\`\`json
{"a": …}
\`\`\`

<!-- not run: it would take long -->
\`\`\`sh
sleep 1000
\`\`\`

<!-- step -->
\`\`\`ts
export default () => 1;
\`\`\`

| Name | Value |
|---|---|
| a | 1 |

See [there](other.md#a-heading) and [far away](https://example.com/#no).
`;

test('blocks have language, comment and what they print', () => {
  const [run, slow, step, ...rest] = blocksOf(DOCUMENT);
  assert.deepEqual(rest, []);
  const directive = { name: '', value: '' };
  assert.deepEqual(run, { language: 'sh', text: 'echo 1\n', line: 3, directive, expected: '{"a": …}\n' });
  assert.deepEqual(slow?.directive, { name: 'not run', value: 'it would take long' });
  assert.equal(slow?.line, 14);
  assert.deepEqual(step?.directive, { name: 'step', value: '' });
});

test('output is compared without white space', () => {
  assert.ok(isPromised('{"a": …, "b": [1, 2]}\nend', '{"a":{"c":3},"b":[1,2]}end\n'));
  assert.ok(!isPromised('{"a": …, "b": [1, 2]}', '{"a":1,"b":[1,2,3]}'));
  assert.ok(!isPromised('a.c', 'abc'));
});

test('links, headings and tables are found', () => {
  assert.deepEqual(linksOf(DOCUMENT), [{ path: 'other.md', heading: 'a-heading' }]);
  assert.deepEqual([...headingsOf(DOCUMENT)], ['a-title-with-code']);
  assert.deepEqual(tableOf(DOCUMENT, 'Name'), [['a', '1']]);
});
