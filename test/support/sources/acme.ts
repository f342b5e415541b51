// An Errand with the components of test/conformance/components, the vendor that they talk to, and an account there.

import { join } from 'node:path';
import type { Answer, Json } from '../client.ts';
import { type Errand, startErrand } from '../errand.ts';
import { startVendor, type Vendor } from './vendor.ts';

const COMPONENTS = join(import.meta.dirname, '../../conformance/components');
const TOKEN = 'acme-token-1';

export interface Acme extends AsyncDisposable {
  readonly errand: Errand;
  readonly vendor: Vendor;
  /** What app props are configured with. */
  readonly account: Json;
  trySource(path: string, props?: Json): Promise<Answer>;
  /** Deploys `acme/sources/<name>/<name>.mjs`; asserts 200. */
  source(name: string, props?: Json): Promise<Json>;
  /** A workflow of one step, `acme/actions/<name>/<name>.mjs`. */
  action(name: string, props?: Json): Promise<Json>;
}

export async function startAcme(env: Record<string, string> = {}): Promise<Acme> {
  const vendor = await startVendor();
  const errand = await startErrand({ ERRAND_COMPONENTS_DIR: COMPONENTS, ...env });
  const { id } = await errand.client.post('/v1/accounts', {
    app: 'acme',
    name: 'Acme of the test',
    fields: { oauth_access_token: TOKEN, base_url: vendor.url },
  });
  return {
    errand,
    vendor,
    account: { authProvisionId: id },
    trySource: (path, props = {}) =>
      errand.client.request('POST', '/v1/sources', { component_path: path, configured_props: props }),
    source: (name, props = {}) =>
      errand.client.post('/v1/sources', {
        component_path: `acme/sources/${name}/${name}.mjs`,
        configured_props: props,
      }),
    action: (name, props = {}) =>
      errand.client.post('/v1/workflows', {
        name,
        triggers: [{ type: 'http' }],
        steps: [{ namespace: 'act', component_path: `acme/actions/${name}/${name}.mjs`, configured_props: props }],
      }),
    [Symbol.asyncDispose]: async () => {
      await errand[Symbol.asyncDispose]();
      await vendor[Symbol.asyncDispose]();
    },
  };
}
