// What came with an answer, kept beside it: the answer is what the server sent, and nothing more.

const tags = new WeakMap<object, string>();
const texts = new WeakMap<object, string>();

/** Keeps the text of an answer, and its `ETag`. */
export function keepAnswer(
  answer: object,
  { text, etag }: { readonly text: string; readonly etag: string | null },
): void {
  texts.set(answer, text);
  if (etag !== null) tags.set(answer, etag);
}

/**
 * Returns the `ETag` of an answer of a method, to be sent as `ifMatch`. Throws `TypeError` when it came with none, as a list
 * does: a change without it would overwrite changes of others.
 */
export function etagOf(answer: object): string {
  const tag = tags.get(answer);
  if (tag === undefined) throw new TypeError('etagOf: this is no answer that came with an ETag');
  return tag;
}

/**
 * Returns the JSON text of an answer of a method, or of the `data` of a stream's event, as the server sent it: events in it are the bytes that arrived, with numbers
 * such as 12345678901234567890, which are rounded in the answer itself. Throws `TypeError` for what is no answer.
 */
export function textOf(answer: object): string {
  const text = texts.get(answer);
  if (text === undefined) throw new TypeError('textOf: this is no answer of a method');
  return text;
}
