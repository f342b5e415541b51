// The room that a store takes on its disk.

export interface SpaceStore {
  /**
   * One step: gives a little of the room that deletions have left back to the disk, when there is much of it. Changes
   * nothing that can be read. Returns whether there may be more. False when nothing can be given back at present, and
   * always where the database does it by itself.
   */
  reclaimSpace(): Promise<boolean>;
}
