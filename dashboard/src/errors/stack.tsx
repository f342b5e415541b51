import { useQuery } from '@tanstack/react-query';
import type { Fault } from '../api/types.ts';
import { changesQuery, workflowQuery } from '../api/workflows.ts';
import { T } from '../english.ts';
import { Scrollable } from '../parts/scrollable.tsx';
import { Foreign } from '../parts/text/foreign.tsx';
import { codeBefore } from './code-before.ts';

interface Place {
  readonly file: string;
  readonly line: number;
}

const AROUND = 3;

/** Returns the place in a line of a stack: `at total (charge.ts:4:18)`. */
function placeIn(frame: string): Place | null {
  const [, file, line] = /\(?([^\s()]+):(\d+):\d+\)?$/.exec(frame.trim()) ?? [];
  return file === undefined ? null : { file, line: Number(line) };
}

/** A step's code has the step's name, with the ending that its language gives it. */
function stepOf(file: string): string {
  return file.replace(/^.*\//, '').replace(/\.[cm]?[jt]sx?$/, '');
}

/**
 * Returns the code of the version that failed, by step, what is to be said of it, and whether there is more to come. Lines of
 * another one would blame the wrong.
 */
export function useFailedCode(workflowId: string | null, deploymentId: string | null) {
  const { data: workflow } = useQuery({ ...workflowQuery(workflowId ?? ''), enabled: workflowId !== null });
  const active = workflow?.deployment_id ?? '';
  const isOther = workflow !== undefined && deploymentId !== null && active !== deploymentId;
  const changes = useQuery({
    ...changesQuery(workflowId ?? '', active, deploymentId ?? undefined),
    enabled: isOther,
    retry: false,
  });
  const codeOf = new Map(
    (workflow?.steps ?? []).flatMap(({ namespace, code }) => (code === undefined ? [] : [[namespace, code]])),
  );
  if (!isOther) return { codeOf, said: null, isComing: false };
  if (!changes.data) {
    const said = changes.isError ? T.error.sourceGone : null;
    return { codeOf: new Map<string, string>(), said, isComing: changes.errorUpdateCount === 0 };
  }
  for (const { namespace, lines } of changes.data.code) {
    const code = lines && codeBefore(codeOf.get(namespace) ?? '', lines);
    if (code === null) codeOf.delete(namespace);
    else codeOf.set(namespace, code);
  }
  return { codeOf, said: T.error.sourceFailed, isComing: false };
}

interface StackProps {
  readonly fault: Fault;
  readonly code: ReturnType<typeof useFailedCode>;
}

/** The stack, with the lines of code around the frames that belong to the workflow's own steps. */
export function Stack({ fault, code: { codeOf, said } }: StackProps) {
  if (fault.stack === '') return <p className="card-body soft">{T.error.noStack}</p>;
  const frames = fault.stack.split('\n');
  const first = frames.findIndex((frame) => codeOf.has(stepOf(placeIn(frame)?.file ?? '')));
  return (
    <>
      <Scrollable className="frames" label={T.error.stack}>
        {frames.map((frame, at) => {
          const place = placeIn(frame);
          const code = place ? codeOf.get(stepOf(place.file)) : undefined;
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: frames repeat, and keep their places
            <div key={at}>
              <div className={code === undefined ? 'frame is-other' : 'frame is-own'}>
                <Foreign>{frame.trim()}</Foreign>
              </div>
              {code !== undefined && place && at === first && <Lines code={code} at={place.line} />}
            </div>
          );
        })}
      </Scrollable>
      {said !== null && (first >= 0 || said === T.error.sourceGone) && <p className="card-body soft">{said}</p>}
    </>
  );
}

function Lines({ code, at }: { code: string; at: number }) {
  const lines = code.split('\n');
  if (at > lines.length) return null;
  const from = Math.max(1, at - AROUND);
  return (
    <Scrollable className="lines" label={T.error.code}>
      {lines.slice(from - 1, at + AROUND).map((text, index) => {
        const number = from + index;
        return (
          <div key={number} className={number === at ? 'line is-at' : 'line'}>
            <span className="line-number">{number}</span>
            <code>
              <Foreign>{text.slice(0, 400)}</Foreign>
            </code>
          </div>
        );
      })}
    </Scrollable>
  );
}
