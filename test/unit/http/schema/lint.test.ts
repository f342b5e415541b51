// The OpenAPI document by the rules of two linters: what Redocly recommends, and Spectral's rules for OpenAPI. A warning is a
// failure; what is excepted is named here, with its reason, and an exception that is not needed any more fails, too.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectral, { type RulesetDefinition } from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';
import { buildDocument } from '../../../../src/http/openapi/openapi.ts';

const RECORD = '{id}/$errors/{record_id}/replay';
const [ENVELOPE, STORE] = ['/api/{project}/envelope/', '/api/{project}/store/'];

/** Used by `x-itemSchema` alone, for which OpenAPI 3.1 has no member. */
const EXPORTED = ['ExportedError', 'OwnerExportLine', 'StreamedError'];
/** Redocly's, as `rule pointer`. */
const EXCEPTED_BY_REDOCLY = [
  // `$errors/event_summaries/…` and `$errors/…/replay` are addresses of the interface; no record is called `event_summaries`.
  ...['workflows', 'sources'].map((noun) => `no-ambiguous-paths #/paths/${escaped(`/v1/${noun}/${RECORD}`)}`),
  // The programs that send there have these addresses built in.
  ...[ENVELOPE, STORE].map((path) => `no-path-trailing-slash #/paths/${escaped(path)}`),
  ...EXPORTED.map((name) => `no-unused-components #/components/schemas/${name}`),
];
/** Spectral's, as `rule path`. */
const EXCEPTED_BY_SPECTRAL = [ENVELOPE, STORE].map((path) => `path-keys-no-trailing-slash paths ${path}`);
/** Roles of a bearer key: OpenAPI 3.1 allows them for every scheme, Spectral those of OAuth alone. */
const ROLE = /^"[a-z]+" must be listed among scopes\.$/;

function escaped(path: string): string {
  return path.replaceAll('~', '~0').replaceAll('/', '~1');
}

test('the document follows what Redocly recommends', async () => {
  const source = JSON.stringify(await buildDocument());
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source, absoluteRef: '/openapi.json', config });
  const found = problems.map(({ ruleId, location }) => `${ruleId} ${location[0]?.pointer}`);
  assert.deepEqual(found.sort(), EXCEPTED_BY_REDOCLY.sort());
  for (const name of EXPORTED) {
    assert.ok(source.includes(`"x-itemSchema":{"$ref":"#/components/schemas/${name}"}`), name);
  }
});

test('the document follows Spectral’s rules for OpenAPI', async () => {
  const linter = new spectral.Spectral();
  // The two packages differ in how they write optional members.
  linter.setRuleset({ extends: [rulesets.oas as unknown as RulesetDefinition] });
  const problems = await linter.run(JSON.parse(JSON.stringify(await buildDocument())));
  const isRole = ({ code, message }: { code: string | number; message: string }): boolean =>
    code === 'oas3-operation-security-defined' && ROLE.test(message);
  const found = problems.filter((problem) => !isRole(problem)).map(({ code, path }) => `${code} ${path.join(' ')}`);
  assert.deepEqual(found.sort(), EXCEPTED_BY_SPECTRAL.sort());
});
