// What callers without the scope `write` see of emissions that let their reader act: requests of code have credentials, and the
// links in mails and notices need no key.

import { text, utf8 } from '../bytes.ts';
import { EMAIL, HTTP, NOTICE } from '../emission.ts';
import { HIDDEN, hiddenBody } from './http-request.ts';

/** The link of a notice up to its signature, and that. */
const LINK = /(\/n\/u_\w{1,32}\/eg_\w{1,32}\/\d{1,12}\.)[\w-]{1,64}/g;

/** Returns the body of an emission with that name as it is shown to callers that may not write. */
export function bodyWithoutSecrets(name: string, body: Uint8Array): Uint8Array {
  if (name === NOTICE) return withoutLinks(body);
  if (name !== HTTP && name !== EMAIL) return body;
  try {
    return name === HTTP ? hiddenBody(body) : withoutText(body);
  } catch {
    return utf8(JSON.stringify(HIDDEN)); // code may have sent anything
  }
}

/**
 * Returns the same as it stands in the error of its delivery, which every caller may see. A mail keeps its text there: a
 * workflow that hears the error may send it another way.
 */
export function bodyInError(name: string, body: Uint8Array): Uint8Array {
  if (name === HTTP) return hiddenBody(body);
  return name === EMAIL || name === NOTICE ? withoutLinks(body) : body;
}

function withoutLinks(body: Uint8Array): Uint8Array {
  const given = text(body);
  const shown = textWithoutLinks(given);
  return shown === given ? body : utf8(shown);
}

/** Returns a text without the signatures of links: receivers may repeat what they were sent. */
export function textWithoutLinks(given: string): string {
  return given.replace(LINK, `$1${HIDDEN}`);
}

function withoutText(body: Uint8Array): Uint8Array {
  const { subject } = JSON.parse(text(body)) as { readonly subject?: unknown };
  return utf8(JSON.stringify({ ...(typeof subject === 'string' ? { subject } : {}), text: HIDDEN }));
}
