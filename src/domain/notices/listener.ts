// The listener of notices to one channel. Each channel has a queue of its own, like each place that code's requests go to, so
// that one that does not answer delays no other.

const LISTENER = /^http:[^:]+:(ch_[0-9A-Za-z]+)$/;

export function channelListener(ownerId: string, channelId: string): string {
  return `http:${ownerId}:${channelId}`;
}

/** Returns the channel of a listener; null for any other listener. */
export function channelOfListener(listenerId: string | null): string | null {
  return LISTENER.exec(listenerId ?? '')?.[1] ?? null;
}
