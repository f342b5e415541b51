// The listening addresses of the process. An error names the setting.

import type { HttpServer } from '../http/server/server.ts';
import { type Config, ConfigError } from './config.ts';
import type { OwnPorts } from './own-services.ts';

export interface Listening {
  readonly url: string;
  /** Null: metrics have no separate address. */
  readonly metricsUrl: string | null;
  readonly ports: OwnPorts;
}

interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Rejects with `ConfigError` when an address cannot be used. */
export async function listen(http: HttpServer, config: Config): Promise<Listening> {
  const port = await withSettingName('ERRAND_', http.listen({ host: config.host, port: config.port }));
  const url = urlOf({ host: config.host, port });
  if (config.metricsPort === null) return { url, metricsUrl: null, ports: { api: port, metrics: null } };
  const place = { host: config.metricsHost, port: config.metricsPort };
  const metricsPort = await withSettingName('ERRAND_METRICS_', http.listenForMetrics(place));
  const metricsUrl = `${urlOf({ ...place, port: metricsPort })}/metrics`;
  return { url, metricsUrl, ports: { api: port, metrics: metricsPort } };
}

function urlOf({ host, port }: ListenAddress): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

async function withSettingName(prefix: string, listening: Promise<{ port: number }>): Promise<number> {
  try {
    return (await listening).port;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const isPort = code === 'EADDRINUSE' || code === 'EACCES';
    const advice = isPort ? 'choose another port, or 0 for any free one' : 'choose an address of this machine';
    throw new ConfigError(`${prefix}${isPort ? 'PORT' : 'HOST'}: ${message}: ${advice}`);
  }
}
