// What an owner wants to be hidden: by the names of members, and by patterns of text. The rules of an owner hold for everything
// that is shown, those of a workflow for its own errors, runs and emissions.

export interface RedactionRules {
  /** Names of members whose values are hidden; `*` stands for any characters. Case, `-`, `_` and spaces do not count. */
  readonly keys: readonly string[];
  /** Regular expressions in the syntax of RE2, which match in linear time. What they match is hidden. */
  readonly patterns: readonly string[];
}

/** The rules of an owner, or of a workflow. */
export interface Redaction extends RedactionRules {
  /** Of a workflow: what is stored of its events and errors is redacted, too. Its errors cannot be replayed. */
  readonly beforeStoring: boolean;
}

/** All rules of an owner, by whose they are: the owner's id, or a workflow's, which may be deleted by now. */
export type Redactions = ReadonlyMap<string, Redaction>;

export const NO_REDACTION: Redaction = { keys: [], patterns: [], beforeStoring: false };

/** Stands where something was hidden. */
export const HIDDEN = '[redacted]';

export function hasRules({ keys, patterns }: RedactionRules): boolean {
  return keys.length > 0 || patterns.length > 0;
}

/** Returns the rules that hold together, each once. */
export function unionOf(all: readonly RedactionRules[]): RedactionRules {
  return {
    keys: [...new Set(all.flatMap(({ keys }) => keys))],
    patterns: [...new Set(all.flatMap(({ patterns }) => patterns))],
  };
}
