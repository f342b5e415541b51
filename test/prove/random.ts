// Random numbers that a seed brings back: which event throws and when the server is killed can be had again, although the
// machine's own timing cannot.

export interface Dice {
  /** Uniform in [0, 1). */
  next(): number;
  /** A whole number, both ends included. */
  between(min: number, max: number): number;
  /** One of them, each as likely as its weight. */
  pick<T extends string>(weights: Readonly<Record<T, number>>): T;
}

/** mulberry32: 32 bits of state, good enough to scatter kills. */
export function createDice(seed: number): Dice {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    between: (min, max) => min + Math.floor(next() * (max - min + 1)),
    pick: (weights) => {
      const names = Object.keys(weights) as (keyof typeof weights)[];
      const total = names.reduce((sum, name) => sum + weights[name], 0);
      let rest = next() * total;
      for (const name of names) {
        rest -= weights[name];
        if (rest < 0) return name;
      }
      return names.at(-1) as keyof typeof weights;
    },
  };
}
