// Builds the dashboard into dist/dashboard/: assets with the hash of their content in their names, each beside its
// compressed forms, so that the server compresses nothing while it runs.

import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const OUT = join(import.meta.dirname, '..', 'dist', 'dashboard');
const COMPRESSED = /\.(js|css|svg|html)$/;
/** What most pages share is one file, which compresses better than many small ones; what the documentation needs is a file aside. */
const SHARED = [
  { name: 'signed-in', test: /signed-in\.ts$/, priority: 2 },
  { name: 'shared', minShareCount: 10, priority: 1 },
];
/** Smaller files gain nothing. */
const MIN_BYTES = 1024;

function compress(): Plugin {
  return {
    name: 'compress',
    apply: 'build',
    closeBundle: async () => {
      const names = await readdir(OUT, { recursive: true });
      await Promise.all(names.filter((name) => COMPRESSED.test(name)).map((name) => compressFile(join(OUT, name))));
    },
  };
}

async function compressFile(path: string): Promise<void> {
  const plain = await readFile(path);
  if (plain.length < MIN_BYTES) return;
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
    promisify(gzip)(plain, { level: 9 }),
  ]);
  await Promise.all([writeFile(`${path}.br`, br), writeFile(`${path}.gz`, gz)]);
}

export default defineConfig({
  root: import.meta.dirname,
  cacheDir: join(import.meta.dirname, '..', 'node_modules', '.cache', 'vite'),
  plugins: [react(), compress()],
  build: {
    outDir: OUT,
    emptyOutDir: true,
    target: 'es2024',
    modulePreload: { polyfill: false },
    // The licences of what is bundled: they ask for their text to go with it.
    license: { fileName: 'licences.md' },
    manifest: 'manifest.json',
    rolldownOptions: {
      input: { index: join(import.meta.dirname, 'index.html'), docs: join(import.meta.dirname, 'src/docs/main.ts') },
      // On a slow machine its warning would be most of what `npm ci` prints.
      checks: { bundlerTimings: false },
      output: { codeSplitting: { groups: SHARED } },
    },
    reportCompressedSize: false,
  },
  server: { proxy: Object.fromEntries(['/v1', '/docs', '/e'].map((path) => [path, 'http://127.0.0.1:4400'])) },
});
