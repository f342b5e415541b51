// Mutations of owners: their deletion and purge, retention and seals, keys, sessions, and what callers send again.

import { type Mutation, of } from '../mutation.ts';

const CONTRACT = ['test/contract/sqlite.test.ts'];
const STORE = 'src/store';
const SESSIONS = ['test/unit/http/access/session.test.ts', 'test/http/interface/sessions.test.ts'];
const DELETIONS = ['test/http/owners/owner-deletions.test.ts', 'test/http/owners/owner-sources.test.ts'];

export const OWNER_MUTATIONS: readonly Mutation[] = [
  ...of(`${STORE}/config/deletion/owner-deletions.ts`, CONTRACT, {
    'owners: the first one is deleted': ["LIMIT 1`))) return 'first';", 'LIMIT 1`))) {}'],
    'owners: one is restored from its purge': ["if (before.deletion.hasBegun) return 'purging';", ''],
    'owners: a second deletion puts the purge off': [' AND purge_at_ms IS NULL`);', '`);'],
    'owners: a purge begins before its time': ['|| deletion.purgeAtMs > nowMs)', ')'],
    'owners: a purge does not wait for what runs': ['if (underWay) return {', 'if (underWay && false) return {'],
    'owners: the operations of others are cancelled': [
      'updated_at_ms = ${nowMs}, ended_at_ms = ${nowMs}\n        WHERE owner_id = ${ownerId} AND',
      "updated_at_ms = ${nowMs}, ended_at_ms = ${nowMs}\n        WHERE ${ownerId} <> '' AND",
    ],
  }),
  ...of(`${STORE}/config/deletion/purge.ts`, CONTRACT, {
    "purge: another owner's emissions go": [
      "page, WALKED_BYTES);\n  const theirs = seen.filter((row) => flag(row, 'is_theirs'));",
      'page, WALKED_BYTES);\n  const theirs = seen;',
    ],
    "purge: another owner's deployments go": ["page.filter((row) => flag(row, 'is_theirs')).map", 'page.map'],
    'purge: what was written meanwhile stays': [
      "if (purge.isSecondRound) return { kind: 'over' };",
      "return { kind: 'over' };",
    ],
    'purge: no record of it is kept': ["if (first) yield* send(putAudit([recordOf(owner, text(first, 'id'))]));", ''],
  }),
  ...of(`${STORE}/config/watch/watches.ts`, CONTRACT, {
    'owners: the watches of others are excused with a restored one': [
      'excuse(fromMs, nowMs, sql`owner_id = ${ownerId}`)',
      'excuse(fromMs, nowMs)',
    ],
    'owners: the heartbeats of others are settled with a restored one': [', sql`w.owner_id = ${ownerId}`);', ');'],
    'owners: the watches of a deleted one are due': [' AND w.${OF_LIVE_OWNER}', ''],
  }),
  ...of('src/engine/sources/last-hooks.ts', DELETIONS, {
    'last hooks: an interrupted one counts as run': [
      "if (end.kind === 'succeeded') return 'succeeded';",
      "return 'succeeded';",
    ],
    'last hooks: the owner that stays is not told': ['if (ended !== null) await this.#tell(owner, whole, ended);', ''],
  }),
  ...of('src/engine/schedule/owner-sweeps.ts', DELETIONS, {
    'purge: the files of an owner stay': ['await removeFiles(ownerId);', ''],
    'purge: the next step comes with the poll': [
      'if (isMore) return 0;',
      'if (isMore) return Number.POSITIVE_INFINITY;',
    ],
  }),
  ...of('src/engine/schedule/owner-files.ts', ['test/postgres/nodes/config/owner-files.test.ts'], {
    'purge: letters stay where mails alone are sent': [
      'if (deletion?.hasBegun) await removeFiles(id);',
      'if (deletion?.hasBegun) continue;',
    ],
  }),
  ...of('src/engine/resources/owner-deletions.ts', DELETIONS, {
    'owners: nothing wakes the deletion': ["    wake.notify('deletions');\n", ''],
  }),
  ...of('src/domain/errors/retention.ts', CONTRACT, {
    'retention: days of a workflow are hours': ['days * DAY_MS', '(days * DAY_MS) / 24'],
  }),
  ...of(`${STORE}/log/retention/errors.ts`, CONTRACT, {
    'retention: one error more than the newest': ['OFFSET ${kept - 1}`', 'OFFSET ${kept}`'],
  }),
  ...of(`${STORE}/seal/seal.ts`, ['test/unit/store/seal/seal.test.ts'], {
    'seal: a text that was opened once opens anywhere': [
      'const known = opened.get(text + place);\n    if (known !== undefined) return known;\n    const plain = openOnce(text, place);\n    keep(text + place, plain);',
      'const known = opened.get(text);\n    if (known !== undefined) return known;\n    const plain = openOnce(text, place);\n    keep(text, plain);',
    ],
    'seal: what is not sealed opens': [
      "if (!isSealed(text)) throw new Error('a text that must be sealed is not');",
      'if (!isSealed(text)) return text;',
    ],
  }),
  ...of('src/http/session/same-origin.ts', SESSIONS, {
    'sessions: a form of another page changes something': [
      'if (!READING.has(method) && headers[DASHBOARD_HEADER] === undefined) return NO_HEADER;',
      '',
    ],
    'sessions: another host of the site may use them': [
      "site !== 'same-origin') return true;",
      "site === 'cross-site') return true;",
    ],
  }),
  ...of('src/http/session/session-cookie.ts', SESSIONS, {
    'sessions: the first of two cookies counts': ['values.length === 1 ?', 'values.length >= 1 ?'],
    'sessions: scripts read the cookie': ["'HttpOnly', ", ''],
  }),
  ...of('src/http/session/session-token.ts', SESSIONS, {
    'sessions: one never ends': ['session !== null && nowMs < session.endsAtMs ?', 'session !== null ?'],
  }),
  ...of('src/http/session/sessions.ts', SESSIONS, {
    'sessions: one outlives its key': [
      'Math.min(startedAtMs + SESSION_MS, expiresAtMs ?? Number.POSITIVE_INFINITY)',
      'startedAtMs + SESSION_MS',
    ],
  }),
  ...of('src/http/session/sign-in-links.ts', SESSIONS, {
    'sessions: a link signs in twice': ['this.#link = null;\n    return', 'return'],
    'sessions: a link is used through a proxy': [' && PROXIED.every((name) => req.headers[name] === undefined)', ''],
  }),
  ...of('src/http/access/auth.ts', SESSIONS, {
    'sessions: a sign-out everywhere ends none': [
      "if (key.sessionEpoch !== epoch) throw new Refusal('unauthenticated', ENDED);",
      '',
    ],
  }),
  ...of('src/domain/keys.ts', ['test/flows/keys.test.ts', 'test/http/keys.test.ts'], {
    'keys: one makes another that lasts longer': [
      'made.expiresAtMs !== null && made.expiresAtMs <= until',
      'made.expiresAtMs !== null',
    ],
    'keys: one revokes what can do more': [
      'revoked.scopes.find((one) => !revoker.scopes.includes(one))',
      'revoked.scopes.find((one) => revoker.scopes.length === 0 && one)',
    ],
  }),
  ...of(`${STORE}/config/owners.ts`, CONTRACT, {
    'sessions: those of another owner are ended': [
      'WHERE owner_id = ${ownerId} AND revoked_at_ms',
      "WHERE ${ownerId} <> '' AND revoked_at_ms",
    ],
  }),
  ...of(`${STORE}/sqlite/log/log-writer.ts`, CONTRACT, {
    'idempotency: a key never expires': [
      "AND key = ? AND expires_at_ms > ?',\n      triggerId,\n      key,\n      this.nowMs,",
      "AND key = ? AND expires_at_ms > ?',\n      triggerId,\n      key,\n      0 * this.nowMs,",
    ],
  }),
  ...of('src/domain/requests.ts', ['test/http/interface/if-match.test.ts'], {
    'If-Match: the first of several versions counts': [
      '!expected.includes(updatedAtMs)',
      'expected[0] !== updatedAtMs',
    ],
  }),
  ...of('src/domain/requests.ts', ['test/unit/domain/request.test.ts'], {
    'If-Match: two changes of a moment are one version': [
      'Math.max(nowMs, before.updatedAtMs + 1)',
      'Math.max(nowMs, before.updatedAtMs)',
    ],
  }),
  ...of('src/engine/tracing/tracestate.ts', ['test/unit/engine/tracing/tracestate.test.ts'], {
    'tracestate: one member of 32 is too many': ['> MAX_MEMBERS', '>= MAX_MEMBERS'],
    'tracestate: a member stands twice': ['if (new Set(members.map(keyOf)).size < members.length) return null;', ''],
    'tracestate: the newest go first': ['kept.pop();', 'kept.shift();'],
  }),
];
