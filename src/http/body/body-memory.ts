// Limits the memory of all bodies that are still arriving: thousands of half-sent ones must not fill it.
//
// A body that arrives in one piece is never counted, so that small requests are always answered. Of the rest each owner
// gets a share, so that half-sent bodies of one owner leave room for the others.

export interface BodyMemory {
  /** Reserves bytes. Returns false when there is no room for that many, and none was reserved. */
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
