// Errand's own components, as shown.

import type { Static } from 'typebox';
import { text } from '../openapi/schema.ts';
import { Type } from '../schema/type.ts';

export interface ListedComponent {
  readonly key: string;
  readonly shape: {
    readonly name: string | null;
    readonly version: string | null;
    readonly description: string | null;
    readonly props: Readonly<Record<string, unknown>>;
  };
}

export const COMPONENT = Type.Object(
  {
    key: text({ description: 'What `POST /v1/sources` takes as `component`.', example: 'rss' }),
    name: text({ description: 'What it is called.', example: 'New items in a feed' }),
    version: text({ description: 'Its version.', example: '1.0.0' }),
    description: text({ description: 'What it does.', example: 'Emits the new items of an RSS or Atom feed.' }),
    configurable_props: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
      description:
        'What can be configured: `{name, type, label, description, optional, default, secret, …}` of each prop.',
      examples: [[{ name: 'url', type: 'string', label: 'Address of the feed' }]],
    }),
  },
  { title: 'Component' },
);

export function componentToWire({ key, shape }: ListedComponent): Static<typeof COMPONENT> {
  const { name, version, description, props } = shape;
  const configurable = Object.entries(props).map(([prop, definition]) => ({ ...(definition as object), name: prop }));
  return {
    key,
    name: name ?? key,
    version: version ?? '',
    description: description ?? '',
    configurable_props: configurable,
  };
}
