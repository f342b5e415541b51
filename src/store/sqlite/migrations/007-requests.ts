// The list of requests that code asked for. No other delivery is in its index.

export const REQUESTS = `
CREATE INDEX deliveries_http ON deliveries (owner_id, delivery) WHERE kind = 'http';
`;
