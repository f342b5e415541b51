// Maps stack frames to the owner's source, without the frames of Errand and Node.

import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { ChildLimits, StepFile } from './protocol.ts';
import { cutBytes } from './text.ts';

// Kept before user code can replace it.
const { parse } = JSON;
const FRAME = /^ +at /;
/** The bundler's name for modules that the platform provides (provided.ts). */
const PLATFORM = /^(\.\/)?errand:/;
/** CommonJS of packages is named by its path, and all else by its address. */
const LOCATION = /((?:(?:file|node|data):|(?<=[\s(])\/)[^\s()]*?):(\d+):(\d+)/g;
/** Packages that lie outside of the bundle; which folder of them that is, is not for code to know. */
const PACKAGE = /^(?:file:\/\/)?\/.*?\/(node_modules\/.*)$/;

/** How Node's inspection prints frames that an error shares with its cause. */
const SHARED = /^ +\.\.\. \d+ lines matching /;
/** What follows the place in a frame, such as ` {` of an inspection. */
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

  /** Returns the frame lines of a stack. `message` is skipped, since its lines may look like frames. */
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
   * Returns printed text with its frames mapped. Errand's frames are dropped, with those of Node around them. All else
   * stays, also Node's frames above the code's own.
   */
  printed(text: string): string {
    if (!text.includes('\n')) return text;
    const kept: string[] = [];
    let isOurs = false;
    /** How many of the last kept lines are Node's frames. */
    let node = 0;
    for (const line of text.split('\n')) {
      const whose = this.#whose(line);
      isOurs = whose === 'ours' || (isOurs && whose === 'node');
      if (isOurs) {
        kept.length -= node;
        if (kept.length > 0) kept.push(`${kept.pop()}${REST.exec(line)?.[1] ?? ''}`);
      } else kept.push(whose === 'code' ? (this.#frame(line) ?? line) : line);
      node = !isOurs && whose === 'node' ? node + 1 : 0;
    }
    return kept.join('\n');
  }

  /**
   * Returns whose frame the line is. `node`: a frame of Node's, or without a place; it goes with those around it. Null:
   * no frame.
   */
  #whose(line: string): 'ours' | 'code' | 'node' | 'other' | null {
    if (SHARED.test(line)) return 'node';
    if (!FRAME.test(line) || line.length > this.#limits.frameBytes) return null;
    const [place] = line.matchAll(LOCATION);
    if (place === undefined || place[1]?.startsWith('node:')) return 'node';
    const [, url = '', row, column] = place;
    if (url === PROGRAM) return 'ours';
    if (!this.#bundles.has(bundleOf(url))) return PACKAGE.test(url) ? 'code' : 'other';
    return this.#place(url, Number(row), Number(column)) === null ? 'ours' : 'code';
  }

  /** Returns the mapped frame; null when it is not the owner's. */
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
    if (bundle === undefined) {
      const path = PACKAGE.exec(url)?.[1];
      return path === undefined ? null : `${path}:${line}:${column}`;
    }
    bundle.map ??= readMap(bundle.mapFile);
    if (bundle.map === null) return `${bundle.namespace}.mjs:${line}:${column}`;
    // Not `findOrigin`: it adds the distance from the mapped place, and so counts indentation twice.
    const origin = bundle.map.findEntry(line - 1, column - 1);
    // A frame that maps nowhere is glue code of the bundler; a platform module has no place on any disk.
    if (!('originalSource' in origin) || PLATFORM.test(origin.originalSource)) return null;
    return `${origin.originalSource}:${origin.originalLine + 1}:${origin.originalColumn + 1}`;
  }
}

/** Returns the URL without its query, in which instances of one bundle differ (instances.ts). */
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
