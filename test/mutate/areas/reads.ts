// Mutations of what shows: searches, groups of errors, the health of workflows, exports, and what owners want to be hidden.

import { type Mutation, of } from '../mutation.ts';

const CONTRACT = ['test/contract/sqlite.test.ts'];
const STORE = 'src/store';

export const READ_MUTATIONS: readonly Mutation[] = [
  ...of(`${STORE}/log/search/error-search.ts`, CONTRACT, {
    "searches: what became of another owner's error is told": [
      'FROM emissions WHERE entry = ${entry} AND owner_id = ${ownerId}`',
      "FROM emissions WHERE entry = ${entry} AND ${ownerId} <> ''`",
    ],
    'searches: the total counts all codes': [
      '...(code === undefined ? [] : [sql`code = ${code}`]),\n    ];\n    const where',
      '];\n    const where',
    ],
    'searches: replayed or not is no matter': [
      'if (replayed !== undefined && replays.length > 0 !== replayed) return false;',
      '',
    ],
  }),
  ...of(`${STORE}/log/search/group-search.ts`, CONTRACT, {
    'groups: a search matches what is hidden': ['textsOf(shown(group))', 'textsOf(group)'],
    'groups: a search shows no notes': ['sql`SELECT * FROM error_groups', 'sql`SELECT ${HEAD} FROM error_groups'],
  }),
  ...of(`${STORE}/log/search/run-search.ts`, CONTRACT, {
    "searches: the runs of another owner's workflow are counted": [
      'where: [sql`${NO_KEY}runs.owner_id = ${ownerId}`] }',
      'where: [] }',
    ],
    'searches: what is hidden is found': ['hasText(shown ? shown.text(given) : given)', 'hasText(given)'],
  }),
  ...of(
    `${STORE}/log/search/bounded-search.ts`,
    ['test/unit/store/search/bounded-search.test.ts', 'test/contract/sqlite.test.ts'],
    {
      'searches: a full page skips what it has not looked at': ['return answer(number);', 'return answer(last);'],
      'searches: the record at the cursor comes again': [
        'from: Math.max(range.from, before + 1)',
        'from: Math.max(range.from, before)',
      ],
      'searches: bytes are no bound': ['if (readBytes >= LIMITS.searchedBytes) return answer(last);', ''],
    },
  ),
  ...of(`${STORE}/config/error-groups.ts`, CONTRACT, {
    'groups: one owner reads the group of another': [
      'SELECT * FROM error_groups WHERE id = ${id} AND owner_id = ${ownerId}`',
      "SELECT * FROM error_groups WHERE id = ${id} AND ${ownerId} <> ''`",
    ],
    'groups: one owner reads the hours of another': [' AND ${NO_KEY}g.owner_id = ${ownerId} AND h.hour', ' AND h.hour'],
    'groups: a mute that is over is not listed as open': [
      "return sql`(state = 'open' OR ${isOver})`;",
      "return sql`state = 'open'`;",
    ],
    'groups: a newer deployment without the error is not the newest': [
      'return newest > lastDeployment ? newest : lastDeployment;',
      'return lastDeployment;',
    ],
    'groups: a deleted workflow resolves those of others': [
      'WHERE owner_id = ${ownerId} AND emitter_id = ${id}\n    AND state',
      "WHERE owner_id = ${ownerId} AND ${id} <> ''\n    AND state",
    ],
    'groups: retention forgets what is muted': ["AND (state <> 'muted' OR until_ms <= ${nowMs})\n", '\n'],
    'groups: retention forgets one whose errors are kept': [
      '\n    AND NOT EXISTS (SELECT 1 FROM emissions WHERE group_id = error_groups.id)`;',
      '`;',
    ],
  }),
  ...of('src/domain/errors/group.ts', CONTRACT, {
    'groups: one resolved in the next deployment opens at once': [
      "return { ...OPEN, state: 'resolved', afterDeployment };",
      "return { ...OPEN, state: 'resolved' };",
    ],
    'groups: a mute counts from the first error': ['count + order.afterCount;', 'order.afterCount;'],
    'groups: a mute without a time ends': [
      "state !== 'muted' || untilMs === null || nowMs",
      "state !== 'muted' || nowMs",
    ],
  }),
  ...of(`${STORE}/log/groups/error-groups.ts`, CONTRACT, {
    'groups: what reopens tells no channel': ['notice_due_ms = ${isTold ? nowMs : null}', 'notice_due_ms = ${null}'],
  }),
  ...of(`${STORE}/log/run-health.ts`, CONTRACT, {
    "health: one owner reads that of another's workflow": [' AND w.owner_id = ${ownerId}`);', '`);'],
    'health: cancelled runs are judged': [
      "state IN ('succeeded', 'failed')",
      "state IN ('succeeded', 'failed', 'cancelled')",
    ],
  }),
  ...of('src/domain/run/health.ts', CONTRACT, {
    'health: the slowest but one of a hundred': ['NEAREST_RANK) - 1]', 'NEAREST_RANK)]'],
    'health: a wait before the start counts': ['endedAtMs - startedAtMs]', 'endedAtMs]'],
  }),
  ...of(
    'src/http/routes/admin/export/lines.ts',
    ['test/http/owners/owner-export.test.ts', 'test/http/owners/export-pages.test.ts'],
    {
      'export: the line at the cursor comes again': [
        'if (isBehind) yield line;\n      isBehind ||= line.id === after;',
        'isBehind ||= line.id === after;\n      if (isBehind) yield line;',
      ],
      'export: mails and requests show what they quote': ['new Set([HTTP, EMAIL, NOTICE])', 'new Set()'],
      'export: one page of records is all': ['if (items.length === 0) break;', 'break;'],
    },
  ),
  ...of(`${STORE}/config/redaction.ts`, CONTRACT, {
    "redaction: rules for another owner's workflow": [' AND runnables.owner_id = ${ownerId}))', '))'],
  }),
  ...of(
    'src/engine/privacy/redactions.ts',
    ['test/unit/engine/privacy/redactions.test.ts', 'test/http/reports/redaction.test.ts'],
    {
      'redaction: new rules count a while later': ['this.#recent.delete(ownerId);\n    this.#owners = null;', ''],
      'redaction: of two workflows the rules of one count': ['if (named.length > 1) return all;', ''],
    },
  ),
];
