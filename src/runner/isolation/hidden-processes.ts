// Whether the server sees its own processes of code in /proc, where it reads their memory and CPU. They close their memory to
// others of their user, so the kernel counts them as root's: where /proc hides what is another user's (`hidepid`, or
// `ProtectProc=` of a systemd unit), a server that is not root does not see them, and bounds nothing of what it reads there.

import { readFileSync } from 'node:fs';

interface Reader {
  readonly isRoot: boolean;
  readonly groups: readonly number[];
}

/** Returns the option of /proc that hides processes of code from this server; null: there is none, or no /proc. */
export function hidingOption(mounts = readMounts(), reader: Reader = self()): string | null {
  if (reader.isRoot) return null;
  // The last one mounted there is the one that is seen.
  const proc = mounts.split('\n').findLast((line) => line.split(' ')[4] === '/proc');
  const options = (proc ?? '').split(/[ ,]/u);
  const hides = options.find((option) => /^hidepid=(?!0$|off$)/u.test(option));
  if (hides === undefined) return null;
  const group = options.find((option) => option.startsWith('gid='))?.slice('gid='.length);
  return group !== undefined && reader.groups.includes(Number(group)) && !hides.endsWith('ptraceable') ? null : hides;
}

function self(): Reader {
  return { isRoot: process.getuid?.() === 0, groups: process.getgroups?.() ?? [] };
}

function readMounts(): string {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    return '';
  }
}
