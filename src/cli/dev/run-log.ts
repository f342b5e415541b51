// Prints runs as they end: what their code printed, and the errors that they threw, with their stacks.

import type { Errand, Run, RunWhole } from '../../client/client.ts';
import { endedRuns } from '../shell/ended-runs.ts';
import { type Output, stateStyle } from '../shell/output.ts';
import { oneLine, safeLines, tookText } from '../shell/text.ts';

const LOOK_MS = 150;
const CLOCK = { from: 11, to: 23 } as const;

const clockOf = (ms: number | null): string =>
  ms === null ? '' : new Date(ms).toISOString().slice(CLOCK.from, CLOCK.to);

export class RunLog {
  readonly #errand: Errand;
  readonly #out: Output;
  readonly #names = new Map<string, string>();
  /** Runs of it tell of errors that are printed anyway. */
  #globalErrorWorkflow: string | null = null;

  constructor(errand: Errand, out: Output) {
    this.#errand = errand;
    this.#out = out;
  }

  /** Goes on until the signal. `onBegin`: is called when no run is missed any more. */
  async follow(signal: AbortSignal, onBegin: () => void): Promise<void> {
    this.#globalErrorWorkflow = (await this.#errand.getMe()).data.global_error_workflow_id;
    for await (const run of endedRuns(this.#errand, { query: {}, lookMs: LOOK_MS, signal, onBegin })) {
      const id = run.workflow_id ?? run.source_id ?? '';
      if (id === this.#globalErrorWorkflow && run.state === 'succeeded') continue;
      const { data } = await this.#errand.getRun({ id: run.id }, { signal });
      await this.#print(await this.#nameOf(id), data);
    }
  }

  async #nameOf(id: string): Promise<string> {
    const known = this.#names.get(id);
    if (known !== undefined) return known;
    const asked = id.startsWith('p_') ? this.#errand.getWorkflow({ id }) : this.#errand.getSource({ id });
    const name = await asked.then(
      ({ data }) => data.name ?? id,
      () => id,
    );
    this.#names.set(id, name);
    return name;
  }

  async #print(name: string, run: RunWhole): Promise<void> {
    const { style } = this.#out;
    const state = stateStyle(run.state);
    const head = `${style('dim', clockOf(run.ended_at_ms))} ${style('bold', oneLine(name))} ${state ? style(state, run.state) : run.state}`;
    const lines = [`${head} ${tookText(tookMs(run))} ${style('dim', run.id)}`];
    for (const { level, text } of run.logs) {
      const color = stateStyle(level);
      for (const line of safeLines(text)) lines.push(`  ${style('dim', '│')} ${color ? style(color, line) : line}`);
    }
    if (run.error) {
      const [first = '', ...rest] = safeLines(`${run.error.code}: ${run.error.msg}`);
      lines.push(`  ${style('red', first)}`, ...rest.map((line) => `  ${style('red', line)}`));
      for (const frame of safeLines(run.error.stack)) if (frame !== '') lines.push(`    ${style('dim', frame.trim())}`);
    }
    await this.#out.write(`${lines.map((line) => line.trimEnd()).join('\n')}\n`);
  }
}

function tookMs({ started_at_ms: from, ended_at_ms: to }: Run | RunWhole): number | null {
  return from === null || to === null ? null : to - from;
}
