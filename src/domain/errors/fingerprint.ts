// The fingerprint of an error: what it has in common with other errors of the same cause. Errors of one workflow, source or
// webhook with the same fingerprint are one group. Pure and bounded, since it is made for every error: about 10 µs.

import { LIMITS } from '../limits.ts';
import { placeOf } from '../literal-text.ts';
import { causeCodesIn } from './causes.ts';
import { shortened, templateOf } from './template.ts';

/** Begins every key, so that errors of a later version make groups of their own. */
export const FINGERPRINT_VERSION = 1;

const FRAME_CHARS = 256;
/** Frames that are looked at for the first own one. */
const FRAMES_READ = 50;

export interface Fingerprint {
  readonly version: number;
  /** The step's name; empty: the error belongs to no step. */
  readonly namespace: string;
  readonly code: string;
  /** Of the message, and behind it the code of each cause: `fetch failed [cause: ECONNREFUSED]`. */
  readonly template: string;
  /** The function and file of the first frame that is neither of Node nor of a package, without lines; empty: there is none. */
  readonly frame: string;
}

/** What groups are made of: taken from an error when it is captured, or from one in the log. */
export interface CapturedFault {
  readonly fingerprint: Fingerprint;
  /** The message's beginning, which rules match. */
  readonly msg: string;
  /** Of the run that failed; null: a delivery failed. */
  readonly deploymentId: string | null;
  /** A notice could not be delivered: its error is listed like any other, and no channel is notified of it. */
  readonly isOfNotice?: boolean;
  /** Of a mail that was not delivered: no mail tells of it. */
  readonly isOfMail?: boolean;
}

/** An owner's rule: errors of the workflow that match all its patterns are one group. */
export interface GroupingRule {
  readonly group: string;
  readonly code?: string;
  /** A pattern: `*` stands for any characters. */
  readonly message?: string;
  readonly step?: string;
}

export interface FaultText {
  readonly namespace?: string;
  readonly code: string;
  readonly msg: string;
  readonly stack?: string;
}

export function captured(fault: FaultText, deploymentId: string | null): CapturedFault {
  const { namespace = '', code, msg, stack = '' } = fault;
  const fingerprint = {
    version: FINGERPRINT_VERSION,
    namespace: shortened(namespace, FRAME_CHARS),
    code: shortened(code, LIMITS.codeChars),
    template: [templateOf(msg), ...causeCodesIn(stack).map((cause) => `[cause: ${cause}]`)].join(' ').trimStart(),
    frame: ownFrame(stack),
  };
  return { fingerprint, msg: msg.slice(0, LIMITS.groupedMessageChars), deploymentId };
}

/** Returns the rule that decides the group of an error; null: its fingerprint does. The first that matches counts. */
export function ruleFor(fault: CapturedFault, rules: readonly GroupingRule[]): GroupingRule | null {
  const { fingerprint, msg } = fault;
  const fits = ({ code, message, step }: GroupingRule): boolean =>
    (code === undefined || code === fingerprint.code) &&
    (step === undefined || step === fingerprint.namespace) &&
    (message === undefined || matches(message, msg));
  return rules.find(fits) ?? null;
}

/** Returns what tells a group from the others of its emitter. */
export function keyOf({ fingerprint }: CapturedFault, rule: GroupingRule | null): string {
  if (rule !== null) return JSON.stringify([FINGERPRINT_VERSION, 'rule', rule.group]);
  const { version, namespace, code, template, frame } = fingerprint;
  return JSON.stringify([version, 'error', namespace, code, template, frame]);
}

/** Of the group of an emitter that counts what has no group of its own, since the emitter has as many as are kept. */
export const OTHER_ERRORS: Fingerprint = {
  version: FINGERPRINT_VERSION,
  namespace: '',
  code: 'OtherErrors',
  template: '',
  frame: '',
};

export function isOfOthers({ namespace, code, template, frame }: Fingerprint): boolean {
  return code === OTHER_ERRORS.code && namespace === '' && template === '' && frame === '';
}

/** Returns in words why errors are in one group. */
export function explained(fingerprint: Fingerprint, rule: string | null): string {
  const { namespace, code, template, frame } = fingerprint;
  if (rule !== null) return `put together by the workflow's rule for the group ${quoted(rule)}`;
  if (isOfOthers(fingerprint)) {
    return `different errors without a group of their own: ${LIMITS.groupsPerEmitter} groups of one emitter are kept, and these errors fit none of them`;
  }
  return [
    namespace === '' ? 'of no step' : `same step ${quoted(namespace)}`,
    `same code ${quoted(code)}`,
    template === '' ? 'no message' : `message template ${quoted(template)}`,
    ...(frame === '' ? [] : [`thrown from ${quoted(frame)}`]),
  ].join(', ');
}

const quoted = (text: string): string => `\`${text}\``;

/** Returns whether a pattern, in which `*` stands for any characters, matches the whole text. Every part is searched once. */
export function matches(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return pattern === text;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = placeOf(part, text, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - at >= last.length && text.endsWith(last);
}

/** Frames of Node and of packages, and lines that are no frames: of a cause, and of what several promises wait for. */
const NOT_OWN = /node_modules[\\/]|\(?node:|<anonymous>\)?$|\bnative\b|^\s*at \[cause: |\(index \d+\)$/;
/** Where in a file, in the ways of many languages. */
const LINE = /(?::\d+){1,2}(?=[),]|:in |$)|:?,? line \d+|\(\d+\)(?=: |$)| \+0x[0-9a-f]+$/g;
/** The hash of a bundle's content in its name, and what is asked for behind it: they differ from build to build. */
const BUILD =
  /(?<=[.-])(?:(?=\w*\d)[0-9a-f]{8,64}|[A-Z0-9]{8}|(?=\w*\d)(?=\w*[A-Z])(?=\w*[a-z])\w{8})(?=\.\w{2,4}\b)|\?[^\s):]*/g;

/** Returns the first frame that is neither of Node nor of a package; empty: there is none. */
export function firstOwnFrame(stack: string): string {
  const frames = stack.slice(0, FRAMES_READ * LIMITS.frameBytes).split('\n', FRAMES_READ);
  return frames.find((frame) => frame.trim() !== '' && !NOT_OWN.test(frame))?.trim() ?? '';
}

/** Returns the first own frame as `function (file)`. */
function ownFrame(stack: string): string {
  const bare = firstOwnFrame(stack)
    .slice(0, LIMITS.frameBytes)
    .replace(/^at (?:async )?(?:new )?/, '');
  return shortened(
    bare.replace(LINE, '').replace(BUILD, (part) => (part.startsWith('?') ? '' : '{id}')),
    FRAME_CHARS,
  );
}
