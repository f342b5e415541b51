// Checks of what `$send` is given: the codecs that `@pipedream/platform` exports by the names of its types. Written from what
// they accept. `decode` and `is` are what a codec of io-ts has, as far as components use it.

export const HTTP_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH'] as const;

type Guard = (value: unknown) => boolean;
type Checks = Readonly<Record<string, Guard | Codec>>;

export interface Invalid {
  readonly value: unknown;
  /** The path to the value: the first key is that of the whole, and empty. */
  readonly context: readonly { readonly key: string }[];
}

export type Decoded =
  | { readonly _tag: 'Right'; readonly right: unknown }
  | { readonly _tag: 'Left'; readonly left: readonly Invalid[] };

export interface Codec {
  is(value: unknown): boolean;
  decode(value: unknown): Decoded;
}

const isText: Guard = (value) => typeof value === 'string';
const isObject: Guard = (value) => typeof value === 'object' && value !== null;
const isPayload: Guard = (value) => isText(value) || isObject(value);
const isMethod: Guard = (value) => (HTTP_METHODS as readonly unknown[]).includes(value);

/** Returns a codec of an object; members of `optional` may be undefined, all others are left alone. */
function codec(required: Checks, optional: Checks = {}): Codec {
  const decode = (value: unknown): Decoded => {
    const left = faultsIn(value, required, optional);
    return left.length === 0 ? { _tag: 'Right', right: value } : { _tag: 'Left', left };
  };
  return { decode, is: (value) => decode(value)._tag === 'Right' };
}

function faultsIn(value: unknown, required: Checks, optional: Checks): Invalid[] {
  if (!isObject(value)) return [{ value, context: [{ key: '' }] }];
  const faults: Invalid[] = [];
  for (const [key, check] of Object.entries({ ...required, ...optional })) {
    const member: unknown = Reflect.get(value as object, key);
    if (member === undefined && !Object.hasOwn(required, key)) continue;
    faults.push(...faultsOf(key, member, check));
  }
  return faults;
}

function faultsOf(key: string, value: unknown, check: Guard | Codec): Invalid[] {
  if (typeof check === 'function') return check(value) ? [] : [{ value, context: [{ key: '' }, { key }] }];
  const decoded = check.decode(value);
  if (decoded._tag === 'Right') return [];
  return decoded.left.map((one) => ({ ...one, context: [{ key: '' }, { key }, ...one.context.slice(1)] }));
}

function texts(...names: string[]): Checks {
  return Object.fromEntries(names.map((name) => [name, isText]));
}

export interface SendConfigHTTP {
  readonly method?: string;
  readonly url: string;
  readonly data?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly auth?: { readonly username?: string; readonly password?: string };
}

export interface SendConfigEmail {
  readonly subject: string;
  readonly text?: string;
  readonly html?: string;
}

export type SendConfigEmit = unknown;

export const SendConfigEmail = codec({}, texts('html', 'subject', 'text'));
export const SendConfigEmit_required = codec({ raw_event: isObject });
export const SendConfigEmit_optional = codec({}, { event: isObject });
export const SendConfigEmit = codec({ raw_event: isObject }, { event: isObject });
export const SendConfigHTTP = codec(
  { method: isMethod, url: isText },
  { auth: codec(texts('password', 'username')), data: isPayload, headers: isObject, params: isObject },
);
export const SendConfigS3 = codec({ ...texts('bucket', 'prefix'), payload: isPayload });
export const SendConfigSQL = codec({ ...texts('table'), payload: isPayload });
export const SendConfigSnowflake = codec({
  ...texts('account', 'database', 'host', 'pipe_name', 'private_key', 'schema', 'stage_name', 'user'),
  payload: isPayload,
});
export const SendConfigSSE = codec({ ...texts('channel'), payload: isPayload });

/** By the names of the functions of `$send`. */
export const sendTypeMap = {
  email: SendConfigEmail,
  emit: SendConfigEmit,
  http: SendConfigHTTP,
  s3: SendConfigS3,
  sql: SendConfigSQL,
  snowflake: SendConfigSnowflake,
  sse: SendConfigSSE,
} as const satisfies Readonly<Record<string, Codec>>;

/** By the same names: functions that throw when what they are given cannot be sent. */
export const $sendConfigRuntimeTypeChecker = /* @__PURE__ */ Object.fromEntries(
  Object.entries(sendTypeMap).map(([name, { decode }]) => [
    name,
    (config: unknown): void => {
      const decoded = decode(config);
      if (decoded._tag === 'Right') return;
      const [{ value, context } = { value: config, context: [] }] = decoded.left;
      const path = context.map(({ key }) => key).filter((key) => key !== '');
      throw new Error(`$send.${name}: invalid value ${String(value)} for ${path.join('.')}`);
    },
  ]),
);
