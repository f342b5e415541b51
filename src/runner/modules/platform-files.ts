// Opens files by path or address, as streams. Part of what stands in for `@pipedream/platform`.

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import type { Readable } from 'node:stream';
import { codedError, send } from './platform-request.ts';

export interface FileMetadata {
  readonly name: string;
  readonly contentType: string;
  /** In bytes; undefined where a server does not say. */
  readonly size: number | undefined;
  readonly lastModified: Date | undefined;
  readonly etag: string | undefined;
}

export interface FileAndMetadata {
  readonly stream: Readable;
  readonly metadata: FileMetadata;
}

const MAX_REDIRECTS = 21;
const BYTES = 'application/octet-stream';

const TYPES: Readonly<Record<string, string>> = {
  '.bmp': 'image/bmp',
  '.css': 'text/css',
  '.csv': 'text/csv',
  '.doc': 'application/msword',
  '.docx': 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  '.gif': 'image/gif',
  '.gz': 'application/gzip',
  '.htm': 'text/html',
  '.html': 'text/html',
  '.ics': 'text/calendar',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.m4a': 'audio/mp4',
  '.md': 'text/markdown',
  '.mov': 'video/quicktime',
  '.mp3': 'audio/mpeg',
  '.mp4': 'video/mp4',
  '.odt': 'application/vnd.oasis.opendocument.text',
  '.ogg': 'audio/ogg',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.ppt': 'application/vnd.ms-powerpoint',
  '.pptx': 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  '.rtf': 'application/rtf',
  '.svg': 'image/svg+xml',
  '.tar': 'application/x-tar',
  '.tif': 'image/tiff',
  '.tiff': 'image/tiff',
  '.txt': 'text/plain',
  '.wav': 'audio/wav',
  '.webm': 'video/webm',
  '.webp': 'image/webp',
  '.xls': 'application/vnd.ms-excel',
  '.xlsx': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  '.xml': 'application/xml',
  '.zip': 'application/zip',
};

export async function getFileStream(pathOrUrl: string): Promise<Readable> {
  return (await getFileStreamAndMetadata(pathOrUrl)).stream;
}

/** Opens a file. Rejects when there is no such file, or when its server answers with an error. */
export async function getFileStreamAndMetadata(pathOrUrl: string): Promise<FileAndMetadata> {
  return /^https?:\/\//i.test(pathOrUrl) ? await fromUrl(pathOrUrl) : await fromDisk(pathOrUrl);
}

async function fromUrl(given: string): Promise<FileAndMetadata> {
  const { response, content, url } = await send({
    url: given,
    method: 'GET',
    headers: { Accept: '*/*', 'User-Agent': 'errand' },
    body: { content: null, headers: {} },
    maxRedirects: MAX_REDIRECTS,
    timeoutMs: 0,
    signal: undefined,
    httpAgent: undefined,
    httpsAgent: undefined,
  });
  const { statusCode = 0, statusMessage = '', headers } = response;
  if (statusCode < 200 || statusCode > 299) {
    response.resume();
    throw codedError('ERR_BAD_RESPONSE', `${given} cannot be read: the answer was ${statusCode} ${statusMessage}`);
  }
  const name = basename(decoded(new URL(url).pathname));
  const [type = ''] = (headers['content-type'] ?? '').split(';', 1);
  const modified = new Date(headers['last-modified'] ?? Number.NaN);
  const metadata: FileMetadata = {
    name,
    contentType: type.trim() || typeOf(name),
    size: headers['content-length'] === undefined ? undefined : Number(headers['content-length']),
    lastModified: Number.isNaN(modified.getTime()) ? undefined : modified,
    etag: headers.etag,
  };
  return { stream: content, metadata };
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

async function fromDisk(path: string): Promise<FileAndMetadata> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw codedError(error.code ?? 'ENOENT', `there is no file ${path} that can be read`);
  });
  const name = basename(path);
  const metadata = {
    name,
    contentType: typeOf(name),
    size: found.size,
    lastModified: found.mtime,
    etag: undefined,
  };
  return { stream: createReadStream(path), metadata };
}

function typeOf(name: string): string {
  return TYPES[extname(name).toLowerCase()] ?? BYTES;
}
