// How much memory bodies hold that are still arriving, all together: thousands that are sent by halves must not fill it.
//
// A body that arrives whole in one piece is never counted, so that small requests are answered whatever else goes on. Of
// all others each owner gets a share, so that one whose callers send by halves leaves room to the others.

export interface BodyMemory {
  /** False: there is no room for so many bytes more, and nothing was taken. */
  take(ownerId: string, bytes: number): boolean;
  release(ownerId: string, bytes: number): void;
  readonly heldBytes: number;
}

export function createBodyMemory({ maxBytes, maxOwnerBytes }: { maxBytes: number; maxOwnerBytes: number }): BodyMemory {
  const owners = new Map<string, number>();
  let heldBytes = 0;
  return {
    take(ownerId, bytes) {
      const ofOwner = (owners.get(ownerId) ?? 0) + bytes;
      if (heldBytes + bytes > maxBytes || ofOwner > maxOwnerBytes) return false;
      owners.set(ownerId, ofOwner);
      heldBytes += bytes;
      return true;
    },
    release(ownerId, bytes) {
      heldBytes -= bytes;
      const left = (owners.get(ownerId) ?? 0) - bytes;
      if (left > 0) owners.set(ownerId, left);
      else owners.delete(ownerId);
    },
    get heldBytes() {
      return heldBytes;
    },
  };
}
