// Takes the texts out of a message that has many or long ones: they cross as bytes, behind the message, so that the server
// neither parses nor unescapes them. In their places stand their numbers.

import type { EndMessage, LogTuple, OutgoingTuple, StepMessage, StepTuple, WaitTuple } from './protocol.ts';

/** Lighter messages are sent as they are: that is faster for the many small ones. */
const LIGHT_BYTES = 64 * 1024;

/** `weight`: about how many bytes the texts have together. */
export function withoutBulk<M extends EndMessage | StepMessage>(
  message: M,
  weight: number,
): { readonly message: M; readonly texts: readonly Uint8Array[] } {
  if (weight <= LIGHT_BYTES) return { message, texts: [] };
  const texts: Uint8Array[] = [];
  const put = <T>(text: T): T => {
    if (typeof text !== 'string') return text;
    // The protocol's types speak of the texts; what stands for one is a matter of this file and of inbound-bulk.ts.
    return (texts.push(Buffer.from(text)) - 1) as T;
  };
  const putAll = <T extends Readonly<Record<string, string | null>>>(all: T): T =>
    Object.fromEntries(Object.entries(all).map(([name, text]) => [name, put(text)])) as T;
  const { step, outgoing, logs } = message;
  const { wait, dbWrites } = message as EndMessage;
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
