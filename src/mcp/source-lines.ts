// The lines of code around the place where an error arose, of the workflow's own code.

import type { WorkflowWhole } from '../client/client.ts';
import { markIn, pathOfKey, withoutMark } from '../domain/files/file-mark.ts';
import { cut, MAX } from './excerpt.ts';

const AROUND = 4;

export interface SourceLines {
  readonly file: string;
  readonly line: number;
  /** Each with its number; the failing one begins with `>`. */
  readonly lines: readonly string[];
}

interface CodeFile {
  readonly code: string;
  readonly isNamed: (file: string) => boolean;
}

const FRAME = /\(?([^\s()]+):(\d+):\d+\)?$/;

/** Returns null when no frame of the stack lies in the workflow's own code. */
export function sourceLines(stack: string, { steps }: Pick<WorkflowWhole, 'steps'>): SourceLines | null {
  const files = steps.flatMap(({ namespace, code }) => (code === undefined ? [] : [codeFile(namespace, code)]));
  for (const frame of stack.split('\n')) {
    const [, file, at] = FRAME.exec(frame.trim()) ?? [];
    const found = file === undefined ? undefined : files.find(({ isNamed }) => isNamed(file));
    if (file === undefined || found === undefined) continue;
    const [line, all] = [Number(at), found.code.split('\n')];
    if (line < 1 || line > all.length) continue;
    const from = Math.max(1, line - AROUND);
    const lines = all.slice(from - 1, line + AROUND).map((text, i) => {
      const number = from + i;
      return `${number === line ? '>' : ' '} ${number} | ${cut(text, MAX.line)}`;
    });
    return { file, line, lines };
  }
  return null;
}

function codeFile(namespace: string, code: string): CodeFile {
  const mark = markIn(code);
  if (mark !== null) {
    const path = pathOfKey(mark.key);
    return { code: withoutMark(code), isNamed: (file) => file === path || file.endsWith(`/${path}`) };
  }
  return { code, isNamed: (file) => file.replace(/^.*\//, '').replace(/\.[cm]?[jt]sx?$/, '') === namespace };
}

/** Returns the path of the file that a workflow was deployed from; null: it was deployed in another way. */
export function fileOf({ steps }: Pick<WorkflowWhole, 'steps'>): string | null {
  const mark = markIn(steps[0]?.code ?? '');
  return mark && pathOfKey(mark.key);
}
