// Stack frames as the owner should see them: in their own source, without ours and Node's.

import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { ChildLimits, StepFile } from './protocol.ts';
import { cutBytes } from './text.ts';

// Taken before user code can put its own in its place.
const { parse } = JSON;
const FRAME = /^ +at /;
/** The bundler's name for what the plugins load (importable.ts, file-modules.ts). */
const PLATFORM = /^(\.\/)?errand:/;
const LOCATION = /((?:file|node|data):[^\s()]*?):(\d+):(\d+)/g;

/** Node's inspection, of frames that an error shares with its cause. */
const SHARED = /^ +\.\.\. \d+ lines matching /;
/** Behind a frame's place: what inspection goes on with, like ` {`. */
const REST = /:\d+:\d+\)?(.*)$/;
/** The program of the process, which is one file (child-code.ts). */
const PROGRAM = import.meta.url;

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

  /**
   * What code prints: frames of its own in their own source, and none of ours, nor what Node has between them and around.
   * All else stays, also Node's frames above the code's own.
   */
  printed(text: string): string {
    if (!text.includes('\n')) return text;
    const kept: string[] = [];
    let isOurs = false;
    /** Of those kept last. */
    let machinery = 0;
    for (const line of text.split('\n')) {
      const whose = this.#whose(line);
      isOurs = whose === 'ours' || (isOurs && whose === 'machinery');
      if (isOurs) {
        kept.length -= machinery;
        if (kept.length > 0) kept.push(`${kept.pop()}${REST.exec(line)?.[1] ?? ''}`);
      } else kept.push(whose === 'code' ? (this.#frame(line) ?? line) : line);
      machinery = !isOurs && whose === 'machinery' ? machinery + 1 : 0;
    }
    return kept.join('\n');
  }

  /** `machinery`: a frame of Node's or of nobody's, which goes with those around it. Null: no frame. */
  #whose(line: string): 'ours' | 'code' | 'machinery' | 'other' | null {
    if (SHARED.test(line)) return 'machinery';
    if (!FRAME.test(line) || line.length > this.#limits.frameBytes) return null;
    const [place] = line.matchAll(LOCATION);
    if (place === undefined || place[1]?.startsWith('node:')) return 'machinery';
    const [, url = '', row, column] = place;
    if (url === PROGRAM) return 'ours';
    if (!this.#bundles.has(bundleOf(url))) return 'other';
    return this.#place(url, Number(row), Number(column)) === null ? 'ours' : 'code';
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
    const bundle = this.#bundles.get(bundleOf(url));
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

/** Instances of one bundle differ in their query (instances.ts). */
function bundleOf(url: string): string {
  return url.replace(/\?\d+$/, '');
}

function afterMessage(stack: string, message: string): string {
  const firstFrame = stack.search(/\n +at /);
  const at = stack.indexOf(message);
  return at >= 0 && at <= firstFrame ? stack.slice(at + message.length) : stack;
}

function readMap(file: string): SourceMap | null {
  try {
    return new SourceMap(parse(readFileSync(file, 'utf8')));
  } catch {
    return null;
  }
}
