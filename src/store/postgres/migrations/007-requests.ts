// The list of requests that code asked for. No other delivery is in its indexes.
//
// An older process knows nothing of them: it cancels those that it is the one to find due.

export const REQUESTS = `
CREATE INDEX open_deliveries_http ON open_deliveries (owner_id, delivery) WHERE kind = 'http';
CREATE INDEX deliveries_http ON deliveries (owner_id, delivery) WHERE kind = 'http';
`;
