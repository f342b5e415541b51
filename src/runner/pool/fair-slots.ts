// Decides which process may begin to work when not all can, and which process makes room for it. Pure: the pool
// supplies the state, and carries out the decisions.
//
// Two things are scarce. *CPU*: at most `maxAwake` processes work at a time. A process whose runs sleep, or wait for an
// answer, uses no CPU and does not count: any number of sleeping runs delays nothing. *Process slots*: all processes
// together, idle ones included, are at most `maxProcesses`, and beyond `maxAwake` only as many as the memory allows. An
// idle process is kept warm while its slot is not needed. Then the least recently used one ends, of owners with more
// than their share first.
//
// Owners share both by max-min fairness. An owner without a working process gets one at once, beyond `maxAwake` if need
// be: the last slots are reserved for such owners. A waiting owner takes from an owner that has at least two more than
// itself, and from no other. So no owner waits while another has two more, and nothing is taken back and forth. The
// other owner's process is not killed: it begins no more runs, and stops working when its runs have ended. The waiting
// owner does not wait for that. Within an owner's own share, its processes take turns.
//
// Few processes start at a time: too many starts would take the CPU from those that work. Each owner may always start
// one.
//
// (Rejected: a fixed share for each owner, since most owners have nothing to do. Ending runs of the other owner, since
// their effects outside would happen twice. Weights by CPU used, since the unit of sharing is a process, awake or not.)

/** What the decision needs to know of a process. */
export interface ProcessState {
  readonly ownerId: string;
  readonly inFlight: number;
  /** Its runs used almost no CPU at the last sample. */
  readonly isAsleep: boolean;
  /** It has not loaded its code yet. */
  readonly isLoading: boolean;
  /** It begins no more runs until its runs have ended. */
  readonly isYielding: boolean;
  /** It begins no more runs at all. */
  readonly isDraining: boolean;
  /** It was started ahead of its first run, which has not come yet. */
  readonly isUnused: boolean;
  readonly usedMb: number;
  readonly lastUsedAt: number;
  /** Since when it has had runs without a pause. */
  readonly busySince: number;
}

export interface Bounds {
  /** Processes that work at a time. */
  readonly maxAwake: number;
  /** Processes that load their code at a time, beside one for each owner: each takes a core for 50 ms. */
  readonly maxLoading: number;
  /** All processes, idle ones included. */
  readonly maxProcesses: number;
  /** The memory for all processes beyond the first `maxAwake`. */
  readonly poolMb: number;
  /** How long a process works at least before it makes room for another one of its owner. */
  readonly turnMs: number;
}

export interface AdmissionRequest<T extends ProcessState> {
  readonly ownerId: string;
  /** The idle process that should work again; null: a new process is to be started. */
  readonly warm: T | null;
  /** How many processes its owner may have; null: any number. */
  readonly maxOwn: number | null;
  /** How many processes its owner waits for, this one included. */
  readonly waiting: number;
  /** Ending processes whose slots are promised to other requests. */
  readonly promised: number;
  readonly nowMs: number;
}

/** The decision. `ends`, `yields` and `leaves` are null when nothing is to be done. */
export interface Admission<T extends ProcessState> {
  /**
   * What the request waits for: the CPU, the start of other processes, a slot, or a slot of its owner's; null: it is
   * admitted.
   */
  readonly waitsFor: 'cpu' | 'loading' | 'slot' | 'own' | null;
  /** An idle process that ends now. */
  readonly ends: T | null;
  /** A process that begins no more runs until its runs have ended, and is then kept. */
  readonly yields: T | null;
  /** A process that ends when its runs have ended. */
  readonly leaves: T | null;
}

/** The memory that a process takes at least once it has loaded its code (docs/isolation.md). */
export const LOADED_MB = 13;
/** The part of all slots that is reserved for owners without a working process. */
const RESERVE = 1 / 8;

const ADMITTED = { waitsFor: null, ends: null, yields: null, leaves: null } as const;
const WAITS_FOR_SLOT = { ...ADMITTED, waitsFor: 'slot' } as const;
const WAITS_FOR_CPU = { ...ADMITTED, waitsFor: 'cpu' } as const;
const WAITS_FOR_LOADING = { ...ADMITTED, waitsFor: 'loading' } as const;
const WAITS_FOR_OWN = { ...ADMITTED, waitsFor: 'own' } as const;

export function admit<T extends ProcessState>(
  all: readonly T[],
  bounds: Bounds,
  request: AdmissionRequest<T>,
): Admission<T> {
  const cpu = cpuFor(all, bounds, request);
  if (cpu.waitsFor !== null || request.warm !== null) return cpu;
  const slot = slotFor(all, bounds, request);
  return slot.waitsFor === null ? { ...slot, yields: cpu.yields } : slot;
}

/** Returns whether the process works, or is not known to sleep. */
export function isAwake({ inFlight, isAsleep }: ProcessState): boolean {
  return inFlight > 0 && !isAsleep;
}

/** Returns how many of the processes each owner has. */
export function countByOwner(processes: Iterable<ProcessState>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { ownerId } of processes) counts.set(ownerId, (counts.get(ownerId) ?? 0) + 1);
  return counts;
}

/**
 * Returns the idle processes in the order in which they should end: unused ones first, then those of owners beyond
 * their share, then the least recently used.
 */
export function idleInOrder<T extends ProcessState>(all: readonly T[], maxProcesses: number): T[] {
  const idle = all.filter(({ inFlight, isDraining }) => inFlight === 0 && !isDraining);
  const counts = countByOwner(all);
  const part = maxProcesses / Math.max(1, counts.size);
  const isBeyond = ({ ownerId }: T): number => Number((counts.get(ownerId) ?? 0) > part);
  return idle.sort(
    (a, b) => Number(b.isUnused) - Number(a.isUnused) || isBeyond(b) - isBeyond(a) || a.lastUsedAt - b.lastUsedAt,
  );
}

function cpuFor<T extends ProcessState>(
  all: readonly T[],
  { maxAwake, turnMs }: Bounds,
  request: AdmissionRequest<T>,
): Admission<T> {
  const awake = all.filter(isAwake);
  if (awake.length < maxAwake) return ADMITTED;
  const own = awake.filter(({ ownerId }) => ownerId === request.ownerId);
  const yields = fromRichest(awake.filter(isStaying), request.ownerId, own.length);
  if (yields !== null || own.length === 0) return { ...ADMITTED, yields };
  // As many processes make room as are waited for, however long their runs take.
  if (own.filter((process) => !isStaying(process)).length >= request.waiting) return WAITS_FOR_CPU;
  return { ...WAITS_FOR_CPU, yields: longest(own.filter(isStaying), request.nowMs - turnMs) };
}

function slotFor<T extends ProcessState>(
  all: readonly T[],
  bounds: Bounds,
  request: AdmissionRequest<T>,
): Admission<T> {
  const { maxProcesses, maxAwake, maxLoading, poolMb, turnMs } = bounds;
  const own = all.filter(({ ownerId }) => ownerId === request.ownerId);
  if (request.maxOwn !== null && own.length >= request.maxOwn) return ownSlot(own, request, turnMs);
  const loading = all.filter((process) => process.isLoading && isAwake(process));
  if (loading.length >= maxLoading && loading.some(({ ownerId }) => ownerId === request.ownerId))
    return WAITS_FOR_LOADING;
  const isFirst = hasNone(all, request.ownerId);
  const occupied = all.filter(isOccupied);
  const free = maxProcesses - occupied.length;
  if (!isFirst && occupied.length >= maxAwake) {
    // An owner with many processes leaves as many slots free as it has: the next owner finds room.
    const has = own.filter(isOccupied).length;
    if (free <= Math.floor(maxProcesses * RESERVE) || has >= Math.max(maxAwake, free)) return WAITS_FOR_SLOT;
  }
  const usedMb = all.reduce((sum, process) => sum + Math.max(process.usedMb, LOADED_MB), 0);
  const isShort = all.length >= maxAwake && usedMb + LOADED_MB > poolMb;
  if (all.length < maxProcesses && !isShort) return ADMITTED;
  const [ends = null] = idleInOrder(all, maxProcesses);
  if (all.length < maxProcesses && isFirst) return { ...ADMITTED, ends };
  if (all.filter(isEnding).length > request.promised) return WAITS_FOR_SLOT;
  if (ends !== null) return { ...WAITS_FOR_SLOT, ends };
  if (all.filter(isLeaving).length >= request.promised + request.waiting) return WAITS_FOR_SLOT;
  const leaves = fromRichest(occupied.filter(isStaying), request.ownerId, own.filter(isOccupied).length);
  return { ...WAITS_FOR_SLOT, leaves: leaves ?? longest(own.filter(isStaying), request.nowMs - turnMs) };
}

/** Makes one of the owner's processes give its slot to another of the same owner, which may have no more. */
function ownSlot<T extends ProcessState>(
  own: readonly T[],
  request: AdmissionRequest<T>,
  turnMs: number,
): Admission<T> {
  if (own.some(isEnding)) return WAITS_FOR_OWN;
  const [ends = null] = idleInOrder(own, 1);
  if (ends !== null) return { ...WAITS_FOR_OWN, ends };
  if (own.filter(isLeaving).length >= request.waiting) return WAITS_FOR_OWN;
  return { ...WAITS_FOR_OWN, leaves: longest(own.filter(isStaying), request.nowMs - turnMs) };
}

function hasNone(all: readonly ProcessState[], owner: string): boolean {
  return !all.some((process) => process.ownerId === owner && isOccupied(process));
}

function isOccupied({ inFlight, isDraining }: ProcessState): boolean {
  return inFlight > 0 || isDraining;
}

function isStaying({ inFlight, isYielding, isDraining }: ProcessState): boolean {
  return inFlight > 0 && !isYielding && !isDraining;
}

/** Returns whether its slot is about to be free. */
function isEnding({ inFlight, isDraining }: ProcessState): boolean {
  return isDraining && inFlight === 0;
}

/** Returns whether its slot will be free when its runs have ended. */
function isLeaving({ inFlight, isDraining }: ProcessState): boolean {
  return isDraining && inFlight > 0;
}

/**
 * Returns the longest busy process of the owner with the most of these, if that owner has at least two more than `has`.
 */
function fromRichest<T extends ProcessState>(staying: readonly T[], owner: string, has: number): T | null {
  let richest: string | null = null;
  let most = has + 1;
  for (const [id, count] of countByOwner(staying)) if (id !== owner && count > most) [richest, most] = [id, count];
  return richest === null
    ? null
    : longest(
        staying.filter(({ ownerId }) => ownerId === richest),
        Number.POSITIVE_INFINITY,
      );
}

/** Returns the process that has been busy longest, if it was busy already at `since`. */
function longest<T extends ProcessState>(processes: readonly T[], since: number): T | null {
  const [first] = processes.filter(({ busySince }) => busySince <= since).sort((a, b) => a.busySince - b.busySince);
  return first ?? null;
}
