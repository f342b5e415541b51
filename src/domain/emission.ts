// An emission: one entry of the durable log. What arrived is its body, bytes that are never re-serialised.

import { entryOfEmitId, msOf } from './ids.ts';

/** Kind of trigger of an event, as the listener sees it (`original_context.source_type`). */
export type SourceType = 'HTTP' | 'TIMER' | 'SOURCE' | 'WORKFLOW' | 'ERROR' | 'WEBHOOK' | 'API';

/** Channel names of the service. Names that begin with `$` are heard only by name; user code cannot emit them. */
export const ERRORS = '$errors';
export const EMAIL = '$email';
/** Where emissions of a source wait for their time. Nothing is ever emitted there. */
export const WAITING = '$in';
/** A request that a run's code asked for. */
export const HTTP = '$http';
/** A single workflow's run asked for by the API or by another workflow, and a replay: heard by that workflow alone. */
export const RUN = '$run';
export const REPLAY = '$replay';
/** A source's hooks asked for, in the order of its life. */
export const HOOK_NAMES = ['$deploy', '$activate', '$deactivate'] as const;
/** Those of the service's channels that a subscription may name. */
export const HEARD_BY_NAME: readonly string[] = [ERRORS, '$logs', EMAIL, HTTP];

export interface NewEmission {
  readonly ownerId: string;
  /** Who emits: `hi_ ti_ dc_ p_ wh_`, or the owner `u_` for an API run or a replay. */
  readonly emitterId: string;
  /** The channel; empty for the default one. */
  readonly name: string;
  /** JSON text in UTF-8, exactly as it arrived or was emitted. */
  readonly body: Uint8Array;
  readonly sourceType: SourceType;
  /** What `original_context.emitter_id` shows: the emitter, but for a replay the emitter of the original event. */
  readonly originId: string;
  /** The trigger checked a signature or token. */
  readonly verified: boolean;
  readonly replay: boolean;
  readonly test: boolean;
  /** One per original event, kept across retries, forwards and replays. Null: this emission begins a trace (its own emit id). */
  readonly traceId: string | null;
  /** Listeners (`p_`, `dc_`, `wh_`) whose runs or deliveries led here, oldest first, each once. */
  readonly lineage: readonly string[];
  /** How many runs lie between the original event and this emission. */
  readonly hops: number;
  /** The run (its number) whose end emits this; null for what came from outside. */
  readonly causeRun: number | null;
  /** The delivery (its number) whose exhaustion emits this; null otherwise. */
  readonly causeDelivery: number | null;
  /** Given by a source: shown in lists. */
  readonly summary: string | null;
  /** Given by a source: the id that dedupe judges. */
  readonly itemId: string | null;
  /** Given by a source: epoch milliseconds. */
  readonly itemTs: number | null;
  /** For `$errors`: the error code. */
  readonly code: string | null;
  /** For `$errors`: where `original_event` lies in the body, so that a replay can cut out its exact bytes. */
  readonly originalStart: number | null;
  readonly originalLength: number | null;
  /** Only this workflow or source hears it (API run, replay, invoke), or the request's own listener; null: all subscribers. */
  readonly onlyListenerId: string | null;
  /** For `$email` sent by the global error workflow about an error: repeats of this key are counted, not sent. */
  readonly digestKey: string | null;
  /** Given by a source: not before then. In the log it has no meaning any more. */
  readonly deliverAtMs?: number;
}

/** An emission in the log. */
export interface Emission extends NewEmission {
  /** Primary key, from the store's clock; see domain/ids.ts. */
  readonly entry: number;
  readonly emitId: string;
  readonly traceId: string;
}

/** When the original event arrived, with which the trace began: of a replay, not when it was replayed. Epoch milliseconds. */
export function arrivedAtMs({ traceId, entry }: Pick<Emission, 'traceId' | 'entry'>): number {
  return msOf(entryOfEmitId(traceId) ?? entry);
}

/** The parts of a new emission that seldom differ, to spread under the rest. */
export const PLAIN_EMISSION = {
  name: '',
  verified: false,
  replay: false,
  test: false,
  traceId: null,
  lineage: [] as readonly string[],
  hops: 0,
  causeRun: null,
  causeDelivery: null,
  summary: null,
  itemId: null,
  itemTs: null,
  code: null,
  originalStart: null,
  originalLength: null,
  onlyListenerId: null,
  digestKey: null,
} as const;

/** An emission by the owner that one workflow or source alone hears. */
export function directEmission(ownerId: string, listenerId: string, event: Uint8Array): NewEmission {
  return {
    ...PLAIN_EMISSION,
    ownerId,
    emitterId: ownerId,
    originId: ownerId,
    name: RUN,
    sourceType: 'API',
    body: event,
    onlyListenerId: listenerId,
  };
}

const SOURCE_TYPES: Record<string, SourceType> = {
  hi_: 'HTTP',
  ti_: 'TIMER',
  dc_: 'SOURCE',
  p_: 'WORKFLOW',
  wh_: 'WEBHOOK',
  u_: 'API',
};

/** The kind of trigger that an emission of this emitter and name is to its listeners. */
export function sourceTypeOf(emitterPrefix: string, name: string): SourceType {
  return name === ERRORS ? 'ERROR' : (SOURCE_TYPES[emitterPrefix] ?? 'API');
}
