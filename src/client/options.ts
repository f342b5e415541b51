// What callers may set, and what a call needs to know of its operation.

export interface ErrandOptions {
  /** Of the server, such as https://errand.example.com. In a browser none is needed on a page of the server's own. */
  readonly url?: string | undefined;
  /** The API key. None: for what needs no key, or when `headers` or `fetch` authenticate in another way. */
  readonly key?: string | undefined;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Instead of the platform's own. */
  readonly fetch?: typeof fetch | undefined;
  /** How long one attempt may take; 60 seconds when not given, `Infinity`: no end. Streams and exports: until their answer begins. */
  readonly timeoutMs?: number | undefined;
  /** Attempts behind the first one; 3 when not given, 0: none. */
  readonly retries?: number | undefined;
}

export interface CallOptions {
  /** Ends the call: it then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  readonly retries?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Where the operation takes one; made by itself when not given. */
  readonly idempotencyKey?: string | undefined;
  /** The `ETag` of the record as it was read (`etagOf`): 412 when it was changed since. */
  readonly ifMatch?: string | undefined;
  /** `*`: create only; 412 when there is one. */
  readonly ifNoneMatch?: '*' | undefined;
  /**
   * The body as JSON text, sent as it is in place of the one that the input makes: numbers such as 12345678901234567890, members
   * that come twice and the order of members stay. The input still fills the path and the query.
   */
  readonly bodyText?: string | undefined;
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
