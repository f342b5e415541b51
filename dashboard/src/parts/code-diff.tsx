import { Scrollable } from './scrollable.tsx';
import { Foreign } from './text/foreign.tsx';

const KINDS: Readonly<Record<string, string>> = { '+': 'add', '-': 'cut-out' };

/** Lines behind ` `: in both, `-`: before alone, `+`: after alone. */
export function CodeDiff({ label, lines }: { label: string; lines: readonly string[] }) {
  return (
    <Scrollable className="diff is-code" label={label}>
      {lines.map((line, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place
        <div key={at} className={KINDS[line[0] ?? '']}>
          <Foreign>{line === '' ? ' ' : line}</Foreign>
        </div>
      ))}
    </Scrollable>
  );
}
