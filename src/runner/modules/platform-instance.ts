// Instances of `axios` with settings of their own: what `axios.create` of `@pipedream/platform` returns. Like the function, they
// resolve to the data; their response interceptors get that.

interface Config {
  readonly url?: string;
  readonly method?: string;
  readonly params?: object;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly data?: unknown;
}

type Request<C> = (config: C) => Promise<unknown>;
type Act = (value: never) => unknown;

interface Handler {
  readonly onFulfilled: Act | null | undefined;
  readonly onRejected: Act | null | undefined;
}

/** What is registered to see requests, or responses. */
class Interceptors {
  readonly #handlers = new Map<number, Handler>();
  #last = -1;

  get handlers(): Handler[] {
    return [...this.#handlers.values()];
  }

  /** Returns the id for `eject`. */
  use(onFulfilled?: Act | null, onRejected?: Act | null): number {
    this.#handlers.set(++this.#last, { onFulfilled, onRejected });
    return this.#last;
  }

  eject(id: number): void {
    this.#handlers.delete(id);
  }

  clear(): void {
    this.#handlers.clear();
  }
}

type Bare<C> = (url: string, config?: C) => Promise<unknown>;
type WithData<C> = (url: string, data?: unknown, config?: C) => Promise<unknown>;

export interface Instance<C> extends Record<'get' | 'delete' | 'head' | 'options', Bare<C>> {
  (given: C | string, config?: C): Promise<unknown>;
  readonly request: (given: C | string, config?: C) => Promise<unknown>;
  readonly post: WithData<C>;
  readonly put: WithData<C>;
  readonly patch: WithData<C>;
  readonly defaults: C;
  readonly interceptors: { readonly request: Interceptors; readonly response: Interceptors };
}

/** Returns an instance that asks with `defaults` below each request's own settings. */
export function createInstance<C extends Config>(ask: Request<C>, defaults: C): Instance<C> {
  const interceptors = { request: new Interceptors(), response: new Interceptors() };
  const request = (given: C | string, config?: C): Promise<unknown> => {
    const own = typeof given === 'string' ? { ...config, url: given } : given;
    let result: Promise<unknown> = Promise.resolve(merged(defaults, own as C));
    // The one that was registered last sees the request first.
    const chain = [
      ...interceptors.request.handlers.reverse(),
      { onFulfilled: ask as Act, onRejected: null },
      ...interceptors.response.handlers,
    ];
    for (const { onFulfilled, onRejected } of chain) result = result.then(onFulfilled as never, onRejected as never);
    return result;
  };
  const bare =
    (method: string): Bare<C> =>
    (url, config) =>
      request({ ...(config as C), method, url });
  const withData =
    (method: string): WithData<C> =>
    (url, data, config) =>
      request({ ...(config as C), method, url, data });
  return Object.assign((given: C | string, config?: C) => request(given, config), {
    request,
    get: bare('get'),
    delete: bare('delete'),
    head: bare('head'),
    options: bare('options'),
    post: withData('post'),
    put: withData('put'),
    patch: withData('patch'),
    defaults,
    interceptors,
  });
}

function merged<C extends Config>(defaults: C, own: C): C {
  const given = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
  return {
    ...defaults,
    ...given,
    headers: { ...defaults.headers, ...own.headers },
    ...(defaults.params && own.params ? { params: { ...defaults.params, ...own.params } } : {}),
  };
}
