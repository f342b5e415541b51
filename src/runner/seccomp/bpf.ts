// Assembles classic BPF, the language of seccomp filters: the instructions that a filter needs, with labels as jump
// targets.
//
// A jump names its label, and goes forward only. The assembler turns labels into the kernel's distances, and throws on
// a distance that does not fit into 8 bits. All machines with a table here (syscalls.ts) are little endian.

const LOAD_WORD = 0x20;
const AND = 0x54;
const JUMP = 0x05;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_AT_LEAST = 0x35;
const RETURN = 0x06;
const INSTRUCTION_BYTES = 8;
const MAX_DISTANCE = 255;

type BpfOperation =
  | { readonly does: 'load'; readonly offset: number }
  | { readonly does: 'and'; readonly value: number }
  | {
      readonly does: 'if-equal' | 'if-at-least';
      readonly value: number;
      readonly then?: string;
      readonly otherwise?: string;
    }
  | { readonly does: 'jump'; readonly to: string }
  | { readonly does: 'return'; readonly value: number }
  | { readonly does: 'label'; readonly name: string };

export type BpfProgram = readonly BpfOperation[];

/** Loads a word of `struct seccomp_data`, the filter's input. */
export const load = (offset: number): BpfOperation => ({ does: 'load', offset });
export const and = (value: number): BpfOperation => ({ does: 'and', value });
/** Jumps when the loaded word is equal; without a label, the next instruction follows. */
export const ifEqual = (value: number, then?: string, otherwise?: string): BpfOperation => ({
  does: 'if-equal',
  value,
  ...(then === undefined ? {} : { then }),
  ...(otherwise === undefined ? {} : { otherwise }),
});
export const ifAtLeast = (value: number, then: string): BpfOperation => ({ does: 'if-at-least', value, then });
/** Jumps without a limit of distance, which all other jumps have. */
export const jump = (to: string): BpfOperation => ({ does: 'jump', to });
export const ret = (value: number): BpfOperation => ({ does: 'return', value });
export const label = (name: string): BpfOperation => ({ does: 'label', name });

/** Returns the instructions as the kernel reads them. Throws on a label that is missing, behind, or too far. */
export function assemble(program: BpfProgram): Uint8Array<ArrayBuffer> {
  const places = new Map<string, number>();
  let count = 0;
  for (const operation of program) {
    if (operation.does !== 'label') count++;
    else if (places.has(operation.name)) throw new Error(`two labels ${operation.name}`);
    else places.set(operation.name, count);
  }
  const bytes = new Uint8Array(count * INSTRUCTION_BYTES);
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const operation of program) {
    if (operation.does === 'label') continue;
    const distance = (name: string | undefined, max = MAX_DISTANCE): number => {
      const place = name === undefined ? at + 1 : places.get(name);
      if (place !== undefined && place > at && place - at - 1 <= max) return place - at - 1;
      throw new Error(`the label ${name} is not within reach`);
    };
    const [code, then, otherwise, value] = encode(operation, distance);
    const start = at++ * INSTRUCTION_BYTES;
    view.setUint16(start, code, true);
    view.setUint8(start + 2, then);
    view.setUint8(start + 3, otherwise);
    view.setUint32(start + 4, value, true);
  }
  return bytes;
}

type Encoded = readonly [code: number, then: number, otherwise: number, value: number];

function encode(
  operation: Exclude<BpfOperation, { does: 'label' }>,
  distance: (name: string | undefined, max?: number) => number,
): Encoded {
  switch (operation.does) {
    case 'load':
      return [LOAD_WORD, 0, 0, operation.offset];
    case 'and':
      return [AND, 0, 0, operation.value];
    case 'return':
      return [RETURN, 0, 0, operation.value];
    case 'jump':
      return [JUMP, 0, 0, distance(operation.to, Number.MAX_SAFE_INTEGER)];
    default: {
      const code = operation.does === 'if-equal' ? JUMP_IF_EQUAL : JUMP_IF_AT_LEAST;
      return [code, distance(operation.then), distance(operation.otherwise), operation.value];
    }
  }
}
