// Makes the address that ends a run's wait unguessable. The child makes the token, so that user code has it at once,
// and the server checks it. A process knows only its own deployment's key, so its code can forge no other address.

// Loading crypto costs 6 ms, which a process without waits should not pay. User code may replace `getBuiltinModule`.
const { getBuiltinModule } = process;
const crypto = (): typeof import('node:crypto') => getBuiltinModule('node:crypto');

const TOKEN_CHARS = 22;

/**
 * Returns the token of one wait. `key`: hex, from `resumeKeyOf`. `run`: the run's number. `waits`: the wait's number,
 * from 1.
 */
export function resumeToken(key: string, run: number, waits: number): string {
  const mac = crypto().createHmac('sha256', Buffer.from(key, 'hex')).update(`${run}:${waits}`);
  return mac.digest('base64url').slice(0, TOKEN_CHARS);
}

/** Returns the key of one deployment's runs, hex. `master`: the store's, from `deriveKey('resume')`. */
export function resumeKeyOf(master: Uint8Array, deploymentId: string): string {
  return crypto().createHmac('sha256', master).update(deploymentId).digest('hex');
}

/** Compares a token from outside with the right one, in constant time. */
export function isResumeToken(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)];
  return a.length === b.length && crypto().timingSafeEqual(a, b);
}
