// What pages take from their address.

type Written = Record<string, unknown>;

/**
 * Returns what the router may call to judge what is written in an address: of it, only what `judge` returns is passed to the
 * page. The router alone would merge it into what is written, and a value that was refused would still be there.
 */
export function judged<S extends object>(judge: (written: Written) => S): (written: Written) => S {
  return (written) => {
    const none = Object.fromEntries(Object.keys(written).map((name) => [name, undefined]));
    return { ...none, ...judge(written) };
  };
}
