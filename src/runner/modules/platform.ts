// Stands in for `@pipedream/platform` in users' code, written from how components use it. It becomes part of their
// bundles, so it imports only Node's own modules. (Rejected: `axios` as a wrapper of that package, which code may import by
// itself (bundling/own-packages.ts). Each bundle would have 529 KiB in place of 22, with 338 KiB of source map, and be stored
// with it; bundling takes 12 times as long, a cold start 1.1 times. A test compares the two.)

import { axios, transformConfigForOauth } from './platform-axios.ts';
import { ConfigurationError } from './platform-error.ts';
import { getFileStream, getFileStreamAndMetadata } from './platform-files.ts';
import { cloneSafe, jsonStringify } from './platform-json.ts';
import {
  $sendConfigRuntimeTypeChecker,
  HTTP_METHODS,
  SendConfigEmail,
  SendConfigEmit,
  SendConfigEmit_optional,
  SendConfigEmit_required,
  SendConfigHTTP,
  SendConfigS3,
  SendConfigSnowflake,
  SendConfigSQL,
  SendConfigSSE,
  sendTypeMap,
} from './platform-send.ts';
import { $end, $event, $send, END_NEEDLE } from './platform-step.ts';

export {
  $end,
  $event,
  $send,
  $sendConfigRuntimeTypeChecker,
  axios,
  ConfigurationError,
  cloneSafe,
  END_NEEDLE,
  getFileStream,
  getFileStreamAndMetadata,
  HTTP_METHODS,
  jsonStringify,
  jsonStringify as jsonStringifySafe,
  SendConfigEmail,
  SendConfigEmit,
  SendConfigEmit_optional,
  SendConfigEmit_required,
  SendConfigHTTP,
  SendConfigS3,
  SendConfigSnowflake,
  SendConfigSQL,
  SendConfigSSE,
  sendTypeMap,
  transformConfigForOauth,
};

/** Seconds. */
export const DEFAULT_POLLING_SOURCE_TIMER_INTERVAL = 900;

/** The vendor's application for Gmail, by which components tell its accounts from those of an application of one's own. */
export const PD_OFFICIAL_GMAIL_OAUTH_CLIENT_ID = 'fnd4m13k1mjb6djallp1m9kr7o8kslcu';

const noProxy = (): never => {
  throw new ConfigurationError('Queries cannot be sent through the proxy of databases that this component uses');
};

/** Members of database apps, for methods that the apps do not have themselves. */
export const sqlProp = { methods: { getSchema: noProxy, executeQueryAdapter: (sql: unknown): unknown => sql } };
export const sqlProxy = { methods: { executeQuery: noProxy, getClientConfiguration: noProxy, proxyAdapter: noProxy } };
