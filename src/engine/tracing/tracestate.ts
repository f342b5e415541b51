// The header `tracestate` of W3C Trace Context: what other systems of the trace noted for themselves. It is passed on as it came.

const KEY = /^([a-z][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})$/;
/** Visible ASCII and blanks, without comma and equals sign; no blank at the end. */
const VALUE = /^[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;
const MAX_MEMBERS = 32;
/** The specification demands that as many characters are passed on. */
const MAX_CHARS = 512;
/** Members that go first when the whole is too long. */
const LONG_CHARS = 128;

/** Returns the members, one comma between them; null: there are none, or one of them is wrong, and then all are ignored. */
export function readTracestate(header: string): string | null {
  const members = header
    .split(',')
    .map((member) => member.replace(/^[ \t]+|[ \t]+$/g, ''))
    .filter((member) => member !== '');
  if (members.length === 0 || members.length > MAX_MEMBERS || !members.every(isMember)) return null;
  if (new Set(members.map(keyOf)).size < members.length) return null;
  const kept = shortened(members);
  return kept.length === 0 ? null : kept.join(',');
}

function isMember(member: string): boolean {
  return member.includes('=') && KEY.test(keyOf(member)) && VALUE.test(member.slice(keyOf(member).length + 1));
}

function keyOf(member: string): string {
  return member.split('=', 1)[0] as string;
}

/** Removes whole members: the long ones from the end on, then others from the end on, which are the oldest. */
function shortened(members: readonly string[]): string[] {
  const kept = [...members];
  const isTooLong = (): boolean => kept.join(',').length > MAX_CHARS;
  for (let n = kept.length - 1; n >= 0 && isTooLong(); n--) if ((kept[n] ?? '').length > LONG_CHARS) kept.splice(n, 1);
  while (isTooLong()) kept.pop();
  return kept;
}
