// Certificates for one test run: no key is ever committed.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** A new self-signed certificate. */
export function selfSigned(altName: string): Certificate {
  return inFolder((file) => {
    const names = ['-subj', '/CN=receiver', '-addext', `subjectAltName=${altName}`];
    openssl(['req', '-x509', ...NEW_KEY, '-days', '1', ...names, '-keyout', file('key'), '-out', file('cert')]);
    return { key: read(file('key')), cert: read(file('cert')) };
  });
}

/** A new certificate that an authority signed; expired when `days` is negative. */
export function signedBy(authority: Certificate, altName: string, days: number): Certificate {
  return inFolder((file) => {
    writeFileSync(file('ca-key'), authority.key);
    writeFileSync(file('ca'), authority.cert);
    writeFileSync(file('names'), `subjectAltName=${altName}`);
    openssl(['req', '-new', ...NEW_KEY, '-subj', '/CN=leaf', '-keyout', file('key'), '-out', file('request')]);
    const by = ['-CA', file('ca'), '-CAkey', file('ca-key'), '-CAcreateserial', '-extfile', file('names')];
    openssl(['x509', '-req', '-in', file('request'), ...by, '-days', String(days), '-out', file('cert')]);
    return { key: read(file('key')), cert: read(file('cert')) };
  });
}

function inFolder(make: (file: (name: string) => string) => Certificate): Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'errand-tls-'));
  try {
    return make((name) => join(folder, `${name}.pem`));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function openssl(args: readonly string[]): void {
  execFileSync('openssl', args, { stdio: 'ignore' });
}

function read(path: string): string {
  return readFileSync(path, 'utf8');
}
