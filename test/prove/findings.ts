// What is wrong, by kind: a count, and the first few by name.

const EXAMPLES = 5;

export interface Finding {
  count: number;
  readonly examples: string[];
}

export class Findings {
  readonly byKind = new Map<string, Finding>();

  add(kind: string, example: string): void {
    const finding = this.byKind.get(kind) ?? { count: 0, examples: [] };
    this.byKind.set(kind, finding);
    finding.count++;
    if (finding.examples.length < EXAMPLES) finding.examples.push(example);
  }

  addAll(others: Findings): void {
    for (const [kind, { count, examples }] of others.byKind) {
      const finding = this.byKind.get(kind) ?? { count: 0, examples: [] };
      this.byKind.set(kind, finding);
      finding.count += count;
      finding.examples.push(...examples.slice(0, EXAMPLES - finding.examples.length));
    }
  }

  /** `expected` of each member, no more and no less. */
  equal(kind: string, found: unknown, expected: unknown): void {
    if (found !== expected) this.add(kind, `found ${found}, expected ${expected}`);
  }

  get count(): number {
    return [...this.byKind.values()].reduce((sum, { count }) => sum + count, 0);
  }

  get lines(): string[] {
    return [...this.byKind].map(([kind, { count, examples }]) => `${count} × ${kind}: ${examples.join('; ')}`);
  }
}
