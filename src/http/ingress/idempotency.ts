import { LIMITS } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';

/** Throws `Refusal` (400) for a key that is empty or too long. `key`: the header, if any. */
export function checkIdempotencyKey(key: string | undefined): void {
  if (key === undefined || (key.length > 0 && key.length <= LIMITS.idempotencyKeyChars)) return;
  const message = `must have 1 to ${LIMITS.idempotencyKeyChars} characters, but has ${key.length}`;
  throw new Refusal('malformed', `Idempotency-Key ${message}`, {
    errors: [{ parameter: 'Idempotency-Key', message }],
  });
}
