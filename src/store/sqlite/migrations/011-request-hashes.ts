// Which request an idempotency key came with: another one with the same key is refused, and not answered with what the first
// one caused. Null: the key was written before, and stands for any request.

export const REQUEST_HASHES = `
ALTER TABLE idempotency ADD COLUMN request_hash TEXT;
`;
