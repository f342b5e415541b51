// A server that ends when the process that started it is gone, however that ended: `errand dev`. It is told so over the channel between
// the two, since a supervisor may have a channel of its own to a server that outlives it.

/** What the parent says first. */
export const ENDS_WITH_PARENT = 'end with this process';

/** Calls `stop` when the parent is gone that has asked for it. Keeps no process running. */
export function endWithParent(stop: () => void): void {
  process.once('message', (message) => {
    if (message === ENDS_WITH_PARENT) process.once('disconnect', stop);
    process.channel?.unref();
  });
  process.channel?.unref();
}
