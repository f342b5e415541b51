// What a tool is: a name, what it takes and gives, which scope it needs, and a call of the interface by the typed client.

import type { Errand } from '../client/client.ts';

/** JSON Schema 2020-12, as far as tools use it. */
export type Schema = Readonly<Record<string, unknown>>;

export interface Tool {
  readonly name: string;
  readonly title: string;
  /** For a model: what the tool is for, what it needs first, and what to do with the answer. */
  readonly description: string;
  readonly input: Schema;
  readonly output: Schema;
  /** A key without it is not offered the tool. */
  readonly scope: 'read' | 'write';
  readonly hints: Hints;
  /** `given` fits `input`. Throws `ToolError`, or what the client throws. */
  readonly call: (errand: Errand, given: object) => Promise<object>;
}

interface Hints {
  readonly readOnlyHint: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint: boolean;
}

/** It changes nothing, whatever it is called with. */
export const READING: Hints = { readOnlyHint: true, openWorldHint: false };

interface Typed<T> extends Omit<Tool, 'call'> {
  readonly call: (errand: Errand, given: T) => Promise<object>;
}

/** Returns the tool without the type of its input: the SDK checks what is given with `input`, which `T` states again. */
export function tool<T extends object>(of: Typed<T>): Tool {
  return { ...of, call: (errand, given) => of.call(errand, given as T) };
}

/** A tool's refusal: what is wrong, and what to do. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}
