// Stack frames as the owner should see them: in their own source, without ours and Node's.

import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { ChildLimits, StepFile } from './protocol.ts';
import { cutBytes } from './text.ts';

const FRAME = /^ +at /;
/** The bundler's name for what the plugins load (importable.ts, file-modules.ts). */
const PLATFORM = /^(\.\/)?errand:/;
const LOCATION = /((?:file|node|data):[^\s()]*?):(\d+):(\d+)/g;

interface Mapped {
  readonly namespace: string;
  readonly mapFile: string;
  map?: SourceMap | null;
}

export class StackMapper {
  readonly #bundles = new Map<string, Mapped>();
  readonly #limits: ChildLimits;

  constructor(steps: readonly StepFile[], limits: ChildLimits) {
    this.#limits = limits;
    for (const step of steps) {
      this.#bundles.set(pathToFileURL(step.file).href, { ...step });
    }
  }

  /** The frame lines of a stack; `message` is skipped, for its lines may look like frames. */
  frames(stack: string, message: string): string[] {
    const { stackFrames, frameBytes } = this.#limits;
    const lines = afterMessage(stack, message)
      .slice(0, 2 * stackFrames * frameBytes)
      .split('\n');
    const frames: string[] = [];
    for (const line of lines) {
      if (frames.length === stackFrames) break;
      if (!FRAME.test(line)) continue;
      const frame = this.#frame(line);
      if (frame !== null) frames.push(cutBytes(frame, frameBytes));
    }
    return frames;
  }

  /** Null when the frame is not the owner's. */
  #frame(line: string): string | null {
    let owned = true;
    const frame = line.replace(LOCATION, (_whole, url: string, row: string, column: string) => {
      const place = this.#place(url, Number(row), Number(column));
      if (place === null) owned = false;
      return place ?? '';
    });
    return owned ? frame : null;
  }

  #place(url: string, line: number, column: number): string | null {
    const bundle = this.#bundles.get(url.replace(/\?\d+$/, '')); // instances.ts
    if (bundle === undefined) return null;
    bundle.map ??= readMap(bundle.mapFile);
    if (bundle.map === null) return `${bundle.namespace}.mjs:${line}:${column}`;
    // Not `findOrigin`: it adds the distance from the mapped place, and so counts indentation twice.
    const origin = bundle.map.findEntry(line - 1, column - 1);
    // What maps nowhere is bundler glue; what has no place on any disk is a module that the platform put in.
    if (!('originalSource' in origin) || PLATFORM.test(origin.originalSource)) return null;
    return `${origin.originalSource}:${origin.originalLine + 1}:${origin.originalColumn + 1}`;
  }
}

function afterMessage(stack: string, message: string): string {
  const firstFrame = stack.search(/\n +at /);
  const at = stack.indexOf(message);
  return at >= 0 && at <= firstFrame ? stack.slice(at + message.length) : stack;
}

function readMap(file: string): SourceMap | null {
  try {
    return new SourceMap(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return null;
  }
}
