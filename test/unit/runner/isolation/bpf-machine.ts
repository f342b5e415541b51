// Runs a filter as the kernel would, on one system call.

const WORDS = 16;
const BYTES = 8;

export interface SystemCall {
  readonly machine: number;
  readonly number: number;
  readonly args?: readonly (number | bigint)[];
}

/** What the filter answers. Throws on what the kernel would not take. */
export function decide(filter: Uint8Array, call: SystemCall): number {
  const data = shown(call);
  const view = new DataView(filter.buffer, filter.byteOffset, filter.length);
  let accumulator = 0;
  for (let at = 0; at * BYTES < filter.length; at++) {
    const start = at * BYTES;
    const [code, then, otherwise, k] = [
      view.getUint16(start, true),
      view.getUint8(start + 2),
      view.getUint8(start + 3),
      view.getUint32(start + 4, true),
    ];
    if (code === 0x06) return k;
    else if (code === 0x20) accumulator = data.getUint32(k, true);
    else if (code === 0x54) accumulator = (accumulator & k) >>> 0;
    else if (code === 0x05) at += k;
    else if (code === 0x15) at += accumulator === k ? then : otherwise;
    else if (code === 0x35) at += accumulator >= k ? then : otherwise;
    else throw new Error(`no instruction ${code}`);
  }
  throw new Error('it ends without an answer');
}

/** `struct seccomp_data`. */
function shown({ machine, number, args = [] }: SystemCall): DataView {
  const data = new DataView(new ArrayBuffer(WORDS * 4));
  data.setInt32(0, number, true);
  data.setUint32(4, machine, true);
  args.forEach((value, index) => {
    data.setBigUint64(16 + 8 * index, BigInt.asUintN(64, BigInt(value)), true);
  });
  return data;
}
