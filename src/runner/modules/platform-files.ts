// Opens files by path or address, as streams. Part of what stands in for `@pipedream/platform`.

import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, extname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { codedError, type ReceivedResponse, send } from './platform-request.ts';

export interface FileMetadata {
  readonly name: string;
  /** Undefined: its server does not say, and its name does not tell. */
  readonly contentType: string | undefined;
  /** In bytes. */
  readonly size: number;
  readonly lastModified: Date | undefined;
  readonly etag: string | undefined;
}

export interface FileAndMetadata {
  readonly stream: Readable;
  readonly metadata: FileMetadata;
}

const MAX_REDIRECTS = 21;

const TYPES: Readonly<Record<string, string>> = {
  '.7z': 'application/x-7z-compressed',
  '.aac': 'audio/aac',
  '.avi': 'video/x-msvideo',
  '.bin': 'application/octet-stream',
  '.bmp': 'image/bmp',
  '.css': 'text/css',
  '.csv': 'text/csv',
  '.doc': 'application/msword',
  '.docx': 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  '.eml': 'message/rfc822',
  '.epub': 'application/epub+zip',
  '.flac': 'audio/x-flac',
  '.gif': 'image/gif',
  '.gz': 'application/gzip',
  '.heic': 'image/heic',
  '.htm': 'text/html',
  '.html': 'text/html',
  '.ics': 'text/calendar',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.m4a': 'audio/mp4',
  '.m4v': 'video/x-m4v',
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
  '.rar': 'application/vnd.rar',
  '.rtf': 'application/rtf',
  '.svg': 'image/svg+xml',
  '.tar': 'application/x-tar',
  '.tif': 'image/tiff',
  '.tiff': 'image/tiff',
  '.tsv': 'text/tab-separated-values',
  '.txt': 'text/plain',
  '.wav': 'audio/wav',
  '.webm': 'video/webm',
  '.webp': 'image/webp',
  '.xls': 'application/vnd.ms-excel',
  '.xlsx': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  '.xml': 'application/xml',
  '.yaml': 'text/yaml',
  '.yml': 'text/yaml',
  '.zip': 'application/zip',
  '.log': 'text/plain',
};

export async function getFileStream(pathOrUrl: string): Promise<Readable> {
  if (!isAddress(pathOrUrl)) return (await getFileStreamAndMetadata(pathOrUrl)).stream;
  return (await received(pathOrUrl)).content;
}

/** Opens a file, also one in a `data:` address. Rejects when there is no such file, or when its server answers with an error. */
export async function getFileStreamAndMetadata(pathOrUrl: string): Promise<FileAndMetadata> {
  if (pathOrUrl.startsWith('data:')) return fromData(pathOrUrl);
  return isAddress(pathOrUrl) ? await fromUrl(pathOrUrl) : await fromDisk(pathOrUrl);
}

function isAddress(text: string): boolean {
  return /^https?:\/\//i.test(text);
}

async function received(url: string): Promise<ReceivedResponse> {
  const got = await send({
    url,
    method: 'GET',
    headers: { Accept: '*/*', 'User-Agent': 'errand', 'Accept-Encoding': 'gzip, deflate, br' },
    body: { content: null, headers: {} },
    maxRedirects: MAX_REDIRECTS,
    timeoutMs: 0,
    signal: undefined,
    isInflated: true,
    httpAgent: undefined,
    httpsAgent: undefined,
  });
  const { statusCode = 0, statusMessage = '' } = got.response;
  if (statusCode >= 200 && statusCode <= 299) return got;
  got.response.resume();
  throw codedError('ERR_BAD_RESPONSE', `${url} cannot be read: the answer was ${statusCode} ${statusMessage}`);
}

async function fromUrl(given: string): Promise<FileAndMetadata> {
  const { response, content } = await received(given);
  const { headers } = response;
  const name = basename(decoded(new URL(given).pathname));
  const modified = new Date(headers['last-modified'] ?? Number.NaN);
  // Uploads need the size. So a file whose server does not say it, or says the size it has compressed, is kept on disk meanwhile.
  const length = content === response ? headers['content-length'] : undefined;
  const { stream, size } =
    length === undefined ? await throughDisk(content) : { stream: content, size: Number(length) };
  const metadata: FileMetadata = {
    name,
    contentType: headers['content-type'] || typeOf(name),
    size,
    lastModified: Number.isNaN(modified.getTime()) ? undefined : modified,
    etag: headers.etag,
  };
  return { stream, metadata };
}

async function throughDisk(content: Readable): Promise<{ stream: Readable; size: number }> {
  const path = join(tmpdir(), `file-${randomUUID()}`);
  const remove = (): Promise<void> => rm(path, { force: true });
  try {
    await pipeline(content, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
    const { size } = await stat(path);
    return { stream: createReadStream(path).once('close', () => void remove().catch(() => {})), size };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Opens a `data:` address. Its parameters may have the file's name. */
function fromData(address: string): FileAndMetadata {
  const comma = address.indexOf(',');
  if (comma === -1) throw codedError('ERR_INVALID_URL', 'a data: address needs a comma before its data');
  const [type = '', ...parameters] = address.slice('data:'.length, comma).split(';');
  const data = address.slice(comma + 1);
  const isBase64 = parameters.some((parameter) => parameter.toLowerCase() === 'base64');
  const bytes = isBase64 ? Buffer.from(decoded(data), 'base64') : Buffer.from(decoded(data));
  const named = parameters.map((parameter) => /^(?:file)?name=(.+)$/i.exec(parameter)?.[1]).find(Boolean);
  const contentType = type || 'text/plain;charset=US-ASCII';
  const extension = Object.keys(TYPES).find((one) => TYPES[one] === contentType) ?? '';
  const name = named === undefined ? `file${extension}` : basename(decoded(named));
  const metadata = { name, contentType, size: bytes.byteLength, lastModified: undefined, etag: undefined };
  return { stream: Readable.from([bytes], { objectMode: false }), metadata };
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

function typeOf(name: string): string | undefined {
  return TYPES[extname(name).toLowerCase()];
}
