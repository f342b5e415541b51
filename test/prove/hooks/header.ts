/** Nanoseconds of CLOCK_MONOTONIC. */
export const ANSWERED_AT = 'x-answered-at';
