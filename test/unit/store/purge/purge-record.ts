// What the log of the first owner says of a purge.

import type { PurgeRecord } from '../../../../src/store/contract/owner-deletions.ts';

export const recordOf: PurgeRecord = ({ id: targetId }, ownerId) => ({
  ...{ id: 'au_purge', ownerId, keyId: null, keyLabel: '', byOwnerId: null, operation: 'purgeOwner', targetId },
  ...{ method: '', path: '', clientIp: '', requestId: '', status: 200, count: 1, atMs: 0 },
});
