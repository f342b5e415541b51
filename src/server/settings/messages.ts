// How a refused setting is told: in one line, its value not longer than a line.

import { closest, distance } from 'fastest-levenshtein';

/** Letters that are wrong, missing or too many in a misspelt name. */
const MAX_DISTANCE = 4;
/** Of a refused value in a message. */
const SHOWN_CHARS = 100;

export function shortened(text: string): string {
  return text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text;
}

/** Escapes control characters: a value of the environment may contain any, and a terminal gets one line. */
export function oneLine(message: string): string {
  const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for control characters
  return message.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, escaped);
}

/** What other command lines call the address of their server. */
const SERVER_NAMES = /^ERRAND_(API_|SERVER_|BASE_)?(URL|SERVER|ADDRESS)$/;

type Env = Readonly<Record<string, string | undefined>>;

/** Returns what is wrong with a name of the environment that begins as settings do and is none; null: there is no such name. */
export function unknownSetting(env: Env, known: ReadonlySet<string>): string | null {
  const unknown = Object.keys(env).find((name) => name.startsWith('ERRAND_') && !known.has(name));
  if (unknown === undefined) return null;
  return oneLine(serviceLinks(env) ?? `${shortened(unknown)} is no setting of Errand${suggestion(unknown, known)}`);
}

/**
 * Returns where the two variables come from that Kubernetes gives each pod for each Service of its namespace; null: they are not
 * there. They are refused and not passed over: beside them is ERRAND_PORT or ERRAND_METRICS_PORT, as tcp://10.96.1.2:80.
 */
function serviceLinks(env: Env): string | null {
  const host = Object.keys(env).find((name) => /^ERRAND_(\w+_)?SERVICE_HOST$/.test(name)) ?? '';
  const port = host.replace(/HOST$/, 'PORT');
  if (host === '' || env[port] === undefined) return null;
  const service = host.slice(0, -'_SERVICE_HOST'.length).toLowerCase().replaceAll('_', '-');
  return `${shortened(host)} and ${shortened(port)} are no settings of Errand: Kubernetes sets them for the Service ${shortened(service)}; set enableServiceLinks: false in the spec of the pod, or give the Service a name that does not begin with errand`;
}

function suggestion(unknown: string, known: ReadonlySet<string>): string {
  if (SERVER_NAMES.test(unknown)) return ': name a command’s server with --url, or save it with "errand login"';
  // Of one that is cut off, as ERRAND_SMTP for ERRAND_SMTP_URL, others are fewer letters away.
  const longer = [...known].filter((name) => name.startsWith(`${unknown}_`));
  if (longer.length > 0) return `; did you mean ${longer.join(' or ')}?`;
  const near = closest(unknown, [...known]);
  return distance(unknown, near) <= MAX_DISTANCE ? `; did you mean ${near}?` : `. Known: ${[...known].join(', ')}`;
}
