// Limits of filters.

export const FILTER_LIMITS = {
  /** Of a filter as JSON. */
  bytes: 8 * 1024,
  /** Nesting of objects, the alternatives of `$or` among them. */
  depth: 16,
  /** What all filters together look at of one event: some 0.1 s. */
  workBytes: 64 * 1024 * 1024,
} as const;
