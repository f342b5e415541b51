// Settings that contradict each other.

import type { EndpointHosts } from '../../domain/endpoint.ts';
import { ROLES, type Role } from './roles.ts';

interface Together {
  readonly host: string;
  readonly publicUrl: string | null;
  readonly endpointHosts: EndpointHosts | null;
  readonly databaseUrl: string | null;
  readonly roles: ReadonlySet<Role>;
}

/** Returns what contradicts what, and what would be right; null: nothing. */
export function contradictionIn({ host, publicUrl, endpointHosts, databaseUrl, roles }: Together): string | null {
  if (databaseUrl === null && roles.size < ROLES.length)
    return 'ERRAND_ROLES: with SQLite one process does everything: leave ERRAND_ROLES out, or set ERRAND_DATABASE_URL';
  const ofApi = (publicUrl === null ? host : new URL(publicUrl).hostname).toLowerCase().replace(/\.$/, '');
  if (endpointHosts !== null && ofApi.endsWith(endpointHosts.suffix))
    return `ERRAND_ENDPOINT_URL: ${ofApi}, where the API is, would be an endpoint: choose other names, such as https://*.hooks${endpointHosts.suffix}`;
  return null;
}
