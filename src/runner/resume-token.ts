// What makes an address that ends a run's wait unguessable: made in the child, so that user code has it at once, and
// checked by the server. A process knows the key of its own deployment alone, so its code can forge no address but its own.

// Loading it costs 6 ms, which a process that waits for nothing should not pay; and user code may replace the function.
const { getBuiltinModule } = process;
const crypto = (): typeof import('node:crypto') => getBuiltinModule('node:crypto');

const TOKEN_CHARS = 22;

/** `key`: hex, of `resumeKeyOf`. `run`: its number. `waits`: which of its waits, the first is 1. */
export function resumeToken(key: string, run: number, waits: number): string {
  const mac = crypto().createHmac('sha256', Buffer.from(key, 'hex')).update(`${run}:${waits}`);
  return mac.digest('base64url').slice(0, TOKEN_CHARS);
}

/** The key of one deployment's runs, hex. `master`: the store's, `deriveKey('resume')`. */
export function resumeKeyOf(master: Uint8Array, deploymentId: string): string {
  return crypto().createHmac('sha256', master).update(deploymentId).digest('hex');
}

/** Whether a token that came from outside is the right one; takes as long for a wrong one. */
export function isResumeToken(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)];
  return a.length === b.length && crypto().timingSafeEqual(a, b);
}
