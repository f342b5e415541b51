// What is changed of a workflow's steps and not deployed.

export interface DraftStep {
  /** Of a step that is deployed: its name there. Of another one: no name that a step can have. */
  readonly id: string;
  readonly name: string;
}

export interface Draft {
  /** Code that was typed, by the ids of the steps. */
  readonly code: ReadonlyMap<string, string>;
  /** The steps in their order; null: which they are, their names and their order are as deployed. */
  readonly steps: readonly DraftStep[] | null;
  /** Ids of the deployed steps that were removed: others that are not among `steps` came with another version. */
  readonly removed: ReadonlySet<string>;
  /** How often code was changed other than by typing: editors take it over. */
  readonly written: number;
  /** The version that was active when the first change was made; null: nothing is changed. */
  readonly base: string | null;
}

export const NO_DRAFT: Draft = { code: new Map(), steps: null, removed: new Set(), written: 0, base: null };
