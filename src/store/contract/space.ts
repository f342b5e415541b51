// The room that a store takes on its disk.

export interface SpaceStore {
  /**
   * Gives a little of the room that deletions have left back to the disk, in one step, when there is much of it. Changes
   * nothing that can be read. Returns whether there may be more. False when nothing can be given back at present, and always
   * where the database does it by itself.
   */
  reclaimSpace(): Promise<boolean>;
}
