// Which process may begin to work when not all can, and which one makes room for it. Pure: the pool tells what there is,
// and does what is decided here.
//
// Two things are short. *CPU*: at most `maxAwake` processes work at a time. A process whose runs sleep, or wait for an
// answer, uses none and does not count: a day's worth of sleeping runs holds up nothing. *ProcessSlots*: all processes together,
// idle ones included, are at most `maxProcesses`, and beyond `maxAwake` of them only as many as the memory allows. An idle
// process is kept warm for as long as its place is not needed; then the one that was used least recently ends, of owners
// that hold more than their part before those that do not.
//
// Owners share both by max-min fairness. An owner without a working process gets one at once, beyond `maxAwake` if need be:
// the last places of all are kept for such owners. An owner that waits takes from one that has two more than itself, and
// from none else; so nobody waits while another owner holds two more, and what is taken is never taken back. The other
// owner's process is not cut off: it begins no more runs, and stops working when those in it have ended. The one that waits
// does not wait for that. What an owner has beyond its part it has lent from nobody: its own processes take turns.
//
// Processes that start are few at a time, too: a crowd of them would take the CPU from all that works. Each owner may always
// start one.
//
// (Rejected: a fixed part for each owner, since most owners have nothing to do. Ending runs of the other owner, since their
// effects outside would happen twice. Weights by CPU used, since the least that a process can be is awake or not.)

/** What is to be known of a process. */
export interface ProcessState {
  readonly ownerId: string;
  readonly inFlight: number;
  /** Its runs used next to no CPU when it was last looked at. */
  readonly isAsleep: boolean;
  /** It has not loaded its code yet. */
  readonly isLoading: boolean;
  /** It begins no more runs until those in it have ended. */
  readonly isYielding: boolean;
  /** It begins no more runs at all. */
  readonly isDraining: boolean;
  /** It was started ahead of its first run, which has not come. */
  readonly isUnused: boolean;
  readonly usedMb: number;
  readonly lastUsedAt: number;
  /** Since when it has had runs without a pause. */
  readonly busySince: number;
}

export interface Bounds {
  /** Processes that work at a time. */
  readonly maxAwake: number;
  /** Processes that load their code at a time, but for one of each owner: each takes a core for 50 ms. */
  readonly maxLoading: number;
  /** All processes, idle ones too. */
  readonly maxProcesses: number;
  /** What all of them may use beyond the first `maxAwake`. */
  readonly poolMb: number;
  /** How long a process works at least before it makes room for another one of its owner. */
  readonly turnMs: number;
}

export interface AdmissionRequest<T extends ProcessState> {
  readonly ownerId: string;
  /** The idle process that is to work again; null: a new one is to be started. */
  readonly warm: T | null;
  /** Of its owner; null: any number. */
  readonly maxOwn: number | null;
  /** How many processes its owner waits for, with this one. */
  readonly waiting: number;
  /** Processes that are ending, whose places others were told to wait for. */
  readonly promised: number;
  readonly nowMs: number;
}

/** Each of the others is null when nothing is to be done. */
export interface Admission<T extends ProcessState> {
  /** What it waits for: the CPU, that others have started, a place, or a place of its owner's; null: it goes. */
  readonly waitsFor: 'cpu' | 'loading' | 'slot' | 'own' | null;
  /** Idle, and ends now. */
  readonly ends: T | null;
  /** Begins no more runs until those in it have ended; it is kept. */
  readonly yields: T | null;
  /** Ends when the runs in it have ended. */
  readonly leaves: T | null;
}

/** What a process takes at least that has loaded its code (docs/isolation.md). */
export const LOADED_MB = 13;
/** Of all places, those that only owners get who have no working process. */
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

/** Awake, or not known to sleep. */
export function isAwake({ inFlight, isAsleep }: ProcessState): boolean {
  return inFlight > 0 && !isAsleep;
}

/** How many each owner has of these. */
export function countByOwner(processes: Iterable<ProcessState>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { ownerId } of processes) counts.set(ownerId, (counts.get(ownerId) ?? 0) + 1);
  return counts;
}

/** Those that run nothing and may end: the unused first, then of owners with more than their part, then the least recently used. */
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
  // As many make room as are waited for; what one of them is at may take its time.
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
    // Whoever has many leaves as many free as it has: the next owner finds room.
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

/** The owner may have no more: one of its own makes room. */
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

/** Its place is free in a moment. */
function isEnding({ inFlight, isDraining }: ProcessState): boolean {
  return isDraining && inFlight === 0;
}

/** Its place is free when its runs have ended. */
function isLeaving({ inFlight, isDraining }: ProcessState): boolean {
  return isDraining && inFlight > 0;
}

/** Of the owner that has the most of these, when that is at least two more than `has`: its longest busy one. */
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

/** The one that has been busy longest, when it was already then. */
function longest<T extends ProcessState>(processes: readonly T[], since: number): T | null {
  const [first] = processes.filter(({ busySince }) => busySince <= since).sort((a, b) => a.busySince - b.busySince);
  return first ?? null;
}
