// What callers may set, and what a call needs to know of its operation.

export interface ErrandOptions {
  /** Of the server, such as https://errand.example.com. In a browser none is needed on a page of the server's own. */
  readonly url?: string;
  /** The API key. None: for what needs no key, or when `headers` or `fetch` authenticate in another way. */
  readonly key?: string;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Instead of the platform's own. */
  readonly fetch?: typeof fetch;
  /** How long one attempt may take; 60 seconds when not given. Streams and exports: until their answer begins. */
  readonly timeoutMs?: number;
  /** Attempts behind the first one; 3 when not given, 0: none. */
  readonly retries?: number;
}

export interface CallOptions {
  /** Ends the call: it then throws the signal's reason. */
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly retries?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Where the operation takes one; made by itself when not given. */
  readonly idempotencyKey?: string;
}

/** An operation of the interface, as far as a call needs to know it. */
export interface Route {
  readonly method: string;
  readonly path: string;
  readonly query?: readonly string[];
  /** `members`: an object of what is neither in path nor query; `whole`: the input's `body`, any JSON. */
  readonly body?: 'members' | 'whole';
  /** No key is sent. */
  readonly isPublic?: true;
  readonly takesIdempotencyKey?: true;
}

/** Opens the answer of a call: it is good, and its body not read yet. */
export type Open = (input: object, options: CallOptions) => Promise<Response>;
