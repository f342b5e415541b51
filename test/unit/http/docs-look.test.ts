// Pages that the server makes look as the dashboard does: the same colours and fonts.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { DARK, FONTS, LIGHT } from '../../../src/http/docs/style/colours.ts';

const BASE = new URL('../../../dashboard/src/style/base.css', import.meta.url);

test('the colours of the docs are those of the dashboard', async () => {
  const css = await readFile(BASE, 'utf8');
  const declared = (selector: string): Map<string, string> => {
    const block = css.slice(css.indexOf(`${selector} {`)).split('}')[0] ?? '';
    return new Map([...block.matchAll(/--([\w-]+): ([^;]+);/g)].map(([, name = '', value = '']) => [name, value]));
  };
  for (const [selector, own] of [
    [':root', { ...LIGHT, ...FONTS }],
    ['[data-mantine-color-scheme="dark"]', DARK],
  ] as const) {
    const real = declared(selector);
    for (const [name, value] of Object.entries(own)) assert.equal(value, real.get(name), `${selector} --${name}`);
  }
});
