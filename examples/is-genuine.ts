import { createHmac, timingSafeEqual } from 'node:crypto';

/** Whether a webhook's request is signed with the secret, and recent. `body`: the bytes as they came. */
export function isGenuine(secret: string, headers: Record<string, string | undefined>, body: Buffer): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures = '' } = headers;
  const ageS = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (!(ageS <= 300)) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const wanted = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
  return signatures.split(' ').some((entry) => {
    const given = Buffer.from(entry.replace(/^v1,/, ''), 'base64');
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  });
}
