// Which refusals an operation may answer with, as far as its definition tells: for its description in the document, and its page.

import { REFUSALS, type RefusalCode } from '../../domain/refusal.ts';

/** The parts of an operation of the document that decide. */
interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: object;
  readonly security?: readonly { readonly key?: readonly string[] }[];
}

/** Returns the codes of the refusals that follow from what an operation takes. Its description names those of its own. */
export function refusalsOf({ parameters = [], requestBody, security = [] }: Operation): readonly RefusalCode[] {
  const needsKey = security.some(({ key }) => key !== undefined);
  const codes: readonly (readonly [RefusalCode, boolean])[] = [
    ['malformed', true],
    ['unauthenticated', needsKey],
    ['forbidden', needsKey],
    ['not_found', parameters.some((parameter) => parameter.in === 'path')],
    ['precondition_failed', parameters.some(({ name }) => name.toLowerCase() === 'if-match')],
    ['too_large', requestBody !== undefined],
    ['unsupported_media', requestBody !== undefined],
    ['rate_limited', needsKey],
  ];
  return codes.flatMap(([code, applies]) => (applies ? [code] : []));
}

/** Returns the refusals as text: `400 malformed, 404 not_found`. */
export function refusalsText(codes: readonly RefusalCode[]): string {
  return codes.map((code) => `${REFUSALS[code].status} \`${code}\``).join(', ');
}
