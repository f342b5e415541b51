// Takes the texts out of a message with many or long ones: they follow the message as bytes, so that the server neither
// parses nor unescapes them. Their numbers stand in their places.

import type { EndMessage, LogMessage, LogTuple, OutgoingTuple, StepMessage, StepTuple, WaitTuple } from './protocol.ts';

/** Lighter messages are sent as they are, which is faster for many small ones. */
const LIGHT_BYTES = 64 * 1024;

/** Returns the message without its texts, and the texts. `weight`: their approximate size in bytes together. */
export function withoutBulk<M extends EndMessage | StepMessage | LogMessage>(
  message: M,
  weight: number,
): { readonly message: M; readonly texts: readonly Uint8Array[] } {
  if (weight <= LIGHT_BYTES) return { message, texts: [] };
  const texts: Uint8Array[] = [];
  const put = <T>(text: T): T => {
    if (typeof text !== 'string') return text;
    // The protocol's types describe the texts; the numbers are known only here and in inbound-bulk.ts.
    return (texts.push(Buffer.from(text)) - 1) as T;
  };
  const putAll = <T extends Readonly<Record<string, string | null>>>(all: T): T =>
    Object.fromEntries(Object.entries(all).map(([name, text]) => [name, put(text)])) as T;
  const { outgoing, logs } = message;
  const { step, wait, dbWrites } = message as EndMessage;
  const light = {
    ...message,
    step: step && (step.with(4, put(step[4])).with(5, step[5] && putAll(step[5])) as unknown as StepTuple),
    outgoing: outgoing?.map(([kind, name, body, summary, id, ...rest]): OutgoingTuple => {
      return [kind, name, put(body), put(summary), put(id), ...rest];
    }),
    logs: logs?.map(([ts, level, namespace, text]): LogTuple => [ts, level, namespace, put(text)]),
    wait: wait && ([wait[0], wait[1], put(wait[2])] satisfies WaitTuple),
    dbWrites: dbWrites && putAll(dbWrites),
  };
  return { message: { ...light, bulk: texts.map((text) => text.byteLength) }, texts };
}
