// Rows of groups of errors.

import type { ErrorGroup, GroupState, GroupStatus, Reopened } from '../../domain/errors/group.ts';
import { jsonOrNull, number, numberOrNull, text, textOrNull } from './cells.ts';
import type { Row } from './rows.ts';

export function toGroupStatus(row: Row): GroupStatus {
  return {
    state: text<GroupState>(row, 'state'),
    untilMs: numberOrNull(row, 'until_ms'),
    untilCount: numberOrNull(row, 'until_count'),
    afterDeployment: textOrNull(row, 'after_deployment'),
  };
}

export function toErrorGroup(row: Row): ErrorGroup {
  return {
    ...toGroupStatus(row),
    id: text(row, 'id'),
    ownerId: text(row, 'owner_id'),
    emitterId: text(row, 'emitter_id'),
    fingerprint: {
      version: number(row, 'version'),
      namespace: text(row, 'namespace'),
      code: text(row, 'code'),
      template: text(row, 'template'),
      frame: text(row, 'frame'),
    },
    rule: textOrNull(row, 'rule'),
    count: number(row, 'n'),
    firstEntry: number(row, 'first_entry'),
    lastEntry: number(row, 'last_entry'),
    firstDeployment: textOrNull(row, 'first_deployment'),
    lastDeployment: textOrNull(row, 'last_deployment'),
    reopened: jsonOrNull<Reopened>(row, 'reopened'),
    note: textOrNull(row, 'note'),
    assignee: textOrNull(row, 'assignee'),
    updatedAtMs: number(row, 'updated_at_ms'),
  };
}
