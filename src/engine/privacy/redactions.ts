// The rules of owners, ready to be applied.

import { REDACTION_LIMITS } from '../../domain/privacy/limits.ts';
import { Redactor } from '../../domain/privacy/redactor.ts';
import { hasRules, type Redaction, type RedactionRules, type Redactions, unionOf } from '../../domain/privacy/rules.ts';
import type { Clock } from '../../ports.ts';
import type { Store } from '../../store/contract/store.ts';
import { matcherOf } from './patterns.ts';

/** The rules of one owner. */
export interface OwnerRules {
  /** Returns what hides by the rules of the owner and of these workflows; null: nothing is hidden. */
  of(ids: readonly (string | null)[]): Redactor | null;
  /** By all rules of the owner, whatever they are for. */
  readonly all: Redactor;
  /** Returns whether what is stored of this workflow is redacted. */
  isBeforeStoring(id: string): boolean;
  /** Returns the workflow that a trigger starts, if what is stored of it is redacted. */
  workflowOf(triggerId: string): string | null;
}

/** Redactors that are kept, of all owners together. */
const KEPT = 1000;

export interface RedactionDeps {
  readonly store: Pick<Store, 'ownersWithRules' | 'redactionsOf' | 'setRedaction' | 'listTriggers'>;
  readonly clock: Clock;
}

export interface RedactionChange {
  readonly redaction: Redaction;
  /** Refuses a change of other rules than it is meant for. */
  readonly check: (before: Redaction) => void;
}

export class RedactionRulesOf {
  readonly #deps: RedactionDeps;
  readonly #redactors = new Map<string, Redactor>();
  readonly #recent = new Map<string, { readonly rules: Promise<OwnerRules | null>; readonly atMs: number }>();
  #owners: { readonly ids: Promise<ReadonlySet<string>>; readonly atMs: number } | null = null;

  constructor(deps: RedactionDeps) {
    this.#deps = deps;
  }

  /** Reads the rules as they are now; null: the owner has none. */
  async read(ownerId: string): Promise<OwnerRules | null> {
    const redactions = await this.#deps.store.redactionsOf(ownerId);
    if (![...redactions.values()].some(hasRules)) return null;
    return this.#ready(ownerId, redactions);
  }

  /**
   * Returns an owner's rules, no older than REDACTION_LIMITS.redactionAgeMs; rules that were set at this process count at once.
   * Every event asks for them: owners without rules cost one query in that time, all of them together.
   */
  async recent(ownerId: string): Promise<OwnerRules | null> {
    const nowMs = this.#deps.clock.nowMs();
    if (!(await this.#withRules(nowMs)).has(ownerId)) return null;
    const known = this.#recent.get(ownerId);
    if (known && isRecent(known, nowMs)) return known.rules;
    if (this.#recent.size >= KEPT) this.#recent.clear();
    const rules = this.read(ownerId);
    this.#recent.set(ownerId, { rules, atMs: nowMs });
    rules.catch(() => this.#recent.delete(ownerId));
    return rules;
  }

  #withRules(nowMs: number): Promise<ReadonlySet<string>> {
    if (this.#owners && isRecent(this.#owners, nowMs)) return this.#owners.ids;
    const owners = { ids: this.#deps.store.ownersWithRules(), atMs: nowMs };
    this.#owners = owners;
    owners.ids.catch(() => {
      if (this.#owners === owners) this.#owners = null;
    });
    return owners.ids;
  }

  /** Throws `Refusal` for a pattern that cannot be used. Returns false when there is no such workflow. */
  async set(ownerId: string, scopeId: string, { redaction, check }: RedactionChange): Promise<boolean> {
    await matcherOf(redaction.patterns);
    const others = [...(await this.#deps.store.redactionsOf(ownerId))].filter(([id]) => id !== scopeId);
    // All of them hold together where a search looks at everything.
    await matcherOf(unionOf([redaction, ...others.map(([, other]) => other)]).patterns);
    const isSet = await this.#deps.store.setRedaction(ownerId, scopeId, (before) => {
      check(before);
      return redaction;
    });
    this.#recent.delete(ownerId);
    this.#owners = null;
    return isSet;
  }

  async #ready(ownerId: string, redactions: Redactions): Promise<OwnerRules> {
    const own = redactions.get(ownerId);
    const scopes = [...redactions.keys()].filter((id) => id !== ownerId);
    const rulesFor = (ids: readonly string[]): RedactionRules =>
      unionOf([...(own ? [own] : []), ...ids.flatMap((id) => redactions.get(id) ?? [])]);
    const redactors = new Map<string, Redactor>();
    // One for each workflow that has rules, one for the others: those of two workflows are rarely needed together.
    for (const id of ['', ...scopes]) redactors.set(id, await this.#redactor(rulesFor(id === '' ? [] : [id])));
    const all = await this.#redactor(rulesFor(scopes));
    const workflows = new Map<string, string>();
    for (const [id, { beforeStoring }] of redactions) {
      if (!beforeStoring || id === ownerId) continue;
      for (const trigger of await this.#deps.store.listTriggers(ownerId, id)) workflows.set(trigger.id, id);
    }
    return {
      all,
      workflowOf: (triggerId) => workflows.get(triggerId) ?? null,
      of: (ids) => {
        const named = scopes.filter((id) => ids.includes(id));
        if (named.length > 1) return all;
        return (named.length === 0 && !(own && hasRules(own)) ? null : redactors.get(named[0] ?? '')) ?? null;
      },
      isBeforeStoring: (id) => redactions.get(id)?.beforeStoring ?? false,
    };
  }

  async #redactor(rules: RedactionRules): Promise<Redactor> {
    const key = JSON.stringify(rules);
    const known = this.#redactors.get(key);
    if (known) return known;
    const made = new Redactor(rules, await matcherOf(rules.patterns));
    if (this.#redactors.size >= KEPT) this.#redactors.clear();
    this.#redactors.set(key, made);
    return made;
  }
}

function isRecent({ atMs }: { readonly atMs: number }, nowMs: number): boolean {
  return Math.abs(nowMs - atMs) < REDACTION_LIMITS.redactionAgeMs;
}
