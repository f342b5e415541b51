// The causes of an error, as its stack shows them: each a line `at [cause: <code>: <message>]` before the frames of the cause
// (runner/child/capture.ts). A cause that is no error has a line without a code: `at [cause: <text>]`.

const CAUSE = /^ *at \[cause: (.*)\]$/gm;
/** The name of an error that has no other says nothing. */
const UNNAMED = 'Error';
const CODE_CHARS = 64;
/** As many as the capture takes; another program's report may have more. */
const CAUSES = 4;
/** A code or a name. A text that has blanks before its first colon is a message. */
const CODE = /^[\w$.-]+(?=: )/;

/** Returns the text of each cause, the nearest first. */
export function causesIn(stack: string): string[] {
  return stack.includes('at [cause: ') ? [...stack.matchAll(CAUSE)].map(([, cause = '']) => cause) : [];
}

/**
 * Returns the code of each cause, or its name, without its message: the message of a connection that was refused names an address,
 * and those of one outage differ.
 */
export function causeCodesIn(stack: string): string[] {
  return causesIn(stack)
    .slice(0, CAUSES)
    .flatMap((cause) => CODE.exec(cause)?.[0].slice(0, CODE_CHARS) ?? [])
    .filter((code) => code !== UNNAMED);
}
