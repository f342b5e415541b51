// Bytes that this node stored since owners' stored bytes were last measured, by intervals: bytes stored during a measurement
// count until the next one, even if they were measured already.

const SLOT_MS = 10_000;

interface Slot {
  atMs: number;
  bytes: number;
}

export class StoredSince {
  readonly #slots = new Map<string, Slot[]>();

  add(ownerId: string, bytes: number, nowMs: number): void {
    const slots = this.#slots.get(ownerId) ?? [];
    this.#slots.set(ownerId, slots);
    const last = slots.at(-1);
    if (last !== undefined && nowMs < last.atMs + SLOT_MS) last.bytes += bytes;
    else slots.push({ atMs: nowMs, bytes });
  }

  /** Moves to now what seems to be still to come, since the clock was set back: else it counts until the clock is there again. */
  turnBack(nowMs: number): void {
    for (const slots of this.#slots.values()) for (const slot of slots) slot.atMs = Math.min(slot.atMs, nowMs);
  }

  bytesOf(ownerId: string): number {
    return this.#slots.get(ownerId)?.reduce((sum, { bytes }) => sum + bytes, 0) ?? 0;
  }

  /** Forgets the bytes stored before then, which have been measured. */
  forgetUntil(atMs: number): void {
    for (const [ownerId, slots] of this.#slots) {
      const left = slots.filter((slot) => slot.atMs + SLOT_MS > atMs);
      if (left.length > 0) this.#slots.set(ownerId, left);
      else this.#slots.delete(ownerId);
    }
  }
}
