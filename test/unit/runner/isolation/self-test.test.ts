import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reasonOf } from '../../../../src/runner/isolation/self-test.ts';
import type { Death } from '../../../../src/runner/process/child-link.ts';
import { ISOLATION, kit } from '../kit.ts';

const JAIL = { ...ISOLATION, level: 'jail', network: 'none' } as const;

function reason(detail: string): string {
  const death: Death = { kind: 'exit', code: 1, signal: null, detail };
  return reasonOf(death, JAIL);
}

test('a process that starts gives no reason', async (t) => {
  assert.equal(await kit(t).runner.selfTest(), null);
});

test('each reason says what to do', () => {
  assert.match(reason('spawn bwrap ENOENT'), /install the package bubblewrap/);
  assert.match(reason('bwrap: Unknown option --size\n'), /older than 0\.8 .*update the package bubblewrap/);
  const forbidden = [
    'bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces.',
    'bwrap: Creating new namespace failed: Operation not permitted',
    'bwrap: setting up uid map: Permission denied',
    'bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted',
  ];
  for (const line of forbidden) {
    assert.match(reason(`${line}\n`), /does not let bwrap .* make a jail \(bwrap: .*\): docs\/isolation\.md/);
  }
  assert.match(
    reason("bwrap: Can't find source path /root/node: No such file"),
    /could not start Node: bwrap: Can't find/,
  );
});

test('a user that cannot be become is named', () => {
  const death: Death = {
    kind: 'exit',
    code: 1,
    signal: null,
    detail: 'file:1\nError: EPERM, Operation not permitted\n  at x\n\nNode.js v26',
  };
  const settings = { level: 'process', network: 'full', user: { uid: 65_534, gid: 65_534 } } as const;
  assert.match(reasonOf(death, settings), /cannot run code as 65534:65534: .*EPERM/);
});
