// Props that refer to definitions of apps which are not there.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tryStep } from '../support/actions.ts';
import type { Answer } from '../support/client.ts';
import { startErrand } from '../support/errand.ts';
import { assertProblem } from '../support/problem.ts';
import { createSource, trySource } from '../support/sources/sources.ts';

test('a prop that nothing defines is refused', async () => {
  await using errand = await startErrand();
  const app = `const app = { type: 'app', app: 'x', propDefinitions: { repo: { type: 'string' }, bare: { label: 'B' }, made() {} } };`;
  const component = (repo: string, type: string): string =>
    `${app} export default { key: 'k', ${type} props: { http: '$.interface.http', repo: ${repo} }, run() {} };`;
  const wrong: [definition: string, why: string][] = [
    [
      "{ propDefinition: [app, 'repos'] }",
      'prop "repo" has the propDefinition "repos", which is unknown: app x has repo, bare, made',
    ],
    ["{ propDefinition: ['app', 'repo'] }", 'prop "repo" has a propDefinition whose app is the text "app"'],
    ["{ propDefinition: [undefined, 'repo'] }", 'prop "repo" has a propDefinition whose app is undefined'],
    [
      "{ propDefinition: [{}, 'repo'] }",
      'prop "repo" has the propDefinition "repo", which is unknown: its app has none',
    ],
    ["{ propDefinition: 'repo' }", 'prop "repo" has neither a type nor a propDefinition'],
    ["{ label: 'Repo', optional: true }", 'prop "repo" has neither a type nor a propDefinition'],
  ];
  const configured_props = { repo: { not: 'a string' } };
  const isRefused = (answer: Answer, why: string): void =>
    assert.ok(assertProblem(answer, 422).error.includes(why), answer.text);
  for (const [definition, why] of wrong) {
    isRefused(await trySource(errand, component(definition, ''), { configured_props }), why);
    const action = component(definition, `type: 'action',`);
    isRefused(await tryStep(errand, action, configured_props), why);
    const [{ runs, problems }] = await errand.client.post('/v1/components/check', { component_code: action });
    assert.deepEqual([runs, problems.length], [false, 1], definition);
    assert.ok(problems[0].text.startsWith(why), problems[0].text);
    if (!definition.includes('[')) continue;
    const asked = { component_code: action, prop_name: 'repo' };
    isRefused(await errand.client.request('POST', '/v1/components/configure', asked), why.slice(1));
  }
  for (const definition of ["{ propDefinition: [app, 'bare'] }", "{ propDefinition: [app, 'made'] }"])
    await createSource(errand, component(definition, ''), { configured_props });
  const typed = component("{ type: 'object', propDefinition: [app, 'repos'] }", '');
  await createSource(errand, typed, { configured_props });
  const [{ warnings }] = await errand.client.post('/v1/components/check', { component_code: typed });
  assert.match(warnings[0].text, /prop "repo" has the propDefinition "repos"/);
});
