// ETags of answers: what a caller sends in `ifMatch` to overwrite no change of another caller.

const tags = new WeakMap<object, string>();

/** Keeps the `ETag` that came with an answer, beside it: the answer is what the server sent, and nothing more. */
export function keepTag(answer: object, tag: string | null): void {
  if (tag !== null) tags.set(answer, tag);
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
