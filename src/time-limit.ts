// A limit of time for an answer of another party, which an answer that came in time never misses.

/**
 * Calls `over` when the time is over and what has arrived by then is read. Node calls timers before it reads: after a
 * standstill of this process (a suspended machine, one without a free core), an answer that came in time lies unread. Returns
 * what ends the limit.
 */
export function limitTime(ms: number, over: () => void): () => void {
  let reading: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    reading = setImmediate(over);
  }, ms);
  return () => {
    clearTimeout(timer);
    clearImmediate(reading);
  };
}
