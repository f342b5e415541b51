// Rows of channels. The whole configuration is sealed.

import type { Channel, ChannelConfig, ChannelKind } from '../../domain/notices/channel.ts';
import type { Seal } from '../seal/seal.ts';
import { channelConfigPlace } from '../seal/sealed-columns.ts';
import { flag, number, text } from './cells.ts';
import type { Row } from './rows.ts';

export function sealedConfig({ id, config }: Channel, seal: Seal): string {
  return seal.seal(JSON.stringify(config), channelConfigPlace(id));
}

export function toChannel(row: Row, seal: Seal): Channel {
  const id = text(row, 'id');
  return {
    id,
    ownerId: text(row, 'owner_id'),
    kind: text<ChannelKind>(row, 'kind'),
    name: text(row, 'name'),
    active: flag(row, 'active'),
    config: JSON.parse(seal.open(text(row, 'config'), channelConfigPlace(id))) as ChannelConfig,
    createdAtMs: number(row, 'created_at_ms'),
    updatedAtMs: number(row, 'updated_at_ms'),
  };
}
