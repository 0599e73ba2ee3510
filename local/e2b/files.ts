/** `GET` and `POST /files`: the content of files in a sandbox, streamed. */
import { createReadStream, type Stats } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { posix } from 'node:path';
import { writeAll } from '../on-disk.ts';
import { ConnectFailure } from './connect-rpc.ts';
import { ensureDirectories } from './directories.ts';
import { codeOf, isMissing, words } from './errno.ts';
import { expand, resolvePath, type SandboxRoot } from './paths.ts';
import type { Sandbox } from './registry.ts';

const pathParameter = (request: Request): string | null => new URL(request.url).searchParams.get('path');

const bad = (message: string): ConnectFailure => new ConnectFailure('invalid_argument', message);
const failed = (message: string, cause: unknown): ConnectFailure =>
  new ConnectFailure(codeOf(cause) === 'ENOSPC' ? 'no_space' : 'internal', message, { cause });

/** Undefined when nothing is there. `failed` words every other error of the system. */
const lookAt = async (
  path: string,
  root: SandboxRoot,
  reword: (error: unknown) => string,
): Promise<{ file: string; found: Stats } | undefined> => {
  try {
    const file = await resolvePath(path, root);
    return { file, found: await stat(file) };
  } catch (error) {
    if (isMissing(error)) return undefined;
    if (error instanceof ConnectFailure) throw error;
    throw failed(reword(error), error);
  }
};

export const readSandboxFile = async (sandbox: Sandbox, request: Request): Promise<Response> => {
  const path = expand(pathParameter(request) ?? '');
  const reword = (error: unknown) => `error checking if path exists '${path}': stat ${path}: ${words(error)}`;
  const there = await lookAt(path, sandbox.root, reword);
  if (there === undefined) throw new ConnectFailure('not_found', `path '${path}' does not exist`);
  const { file, found } = there;
  if (found.isDirectory()) throw bad(`path '${path}' is a directory`);
  if (!found.isFile()) throw bad(`path '${path}' is not a file`);
  const headers = { 'content-type': 'application/octet-stream', 'content-length': String(found.size) };
  if (found.size === 0) return new Response(null, { headers });
  return new Response(ReadableStream.from(createReadStream(file, { end: found.size - 1 })), { headers });
};

interface Written {
  name: string;
  path: string;
  type: 'file';
}

const writeOne = async (
  root: SandboxRoot,
  path: string,
  content: AsyncIterable<Uint8Array>,
): Promise<Written> => {
  await ensureDirectories(posix.dirname(path), root).catch((error: unknown) => {
    if (!(error instanceof ConnectFailure) || error.code !== 'internal') throw error;
    throw new ConnectFailure('internal', `error ensuring directories: ${error.message}`);
  });
  const there = await lookAt(path, root, (error) => `error getting file info: stat ${path}: ${words(error)}`);
  if (there?.found.isDirectory() === true) throw bad(`path is a directory: ${path}`);
  const file = there?.file ?? (await resolvePath(path, root));
  const handle = await open(file, 'w').catch((error: unknown) => {
    throw failed(`error opening file: open ${path}: ${words(error)}`, error);
  });
  try {
    await writeAll(handle, content);
  } finally {
    await handle.close();
  }
  return { name: posix.basename(path), path, type: 'file' };
};

const rawContent = (request: Request): ReadableStream<Uint8Array> => {
  const body = request.body ?? new ReadableStream({ start: (controller) => controller.close() });
  return request.headers.get('content-encoding') === 'gzip'
    ? body.pipeThrough(new DecompressionStream('gzip'))
    : body;
};

/** Of several files with one name, only the first is written. */
const refuseTwice = (path: string, written: readonly Written[]): void => {
  if (!written.some((one) => one.path === path)) return;
  const others = written.map((one) => one.path).filter((one) => one !== path);
  const also = others.length > 1 ? `, also the following files were uploaded: ${others.join(', ')}` : '';
  throw bad(
    `you cannot upload multiple files to the same path '${path}' in one upload request, only the first specified file was uploaded${also}`,
  );
};

/** Writes several files, each named by its path, or one raw body for the `path` of the query. */
export const writeSandboxFiles = async ({ root }: Sandbox, request: Request): Promise<Response> => {
  const named = pathParameter(request);
  const type = request.headers.get('content-type') ?? '';
  if (type.startsWith('application/octet-stream')) {
    if (named === null) throw bad('path query parameter is required for raw body upload');
    return Response.json([await writeOne(root, expand(named), rawContent(request))]);
  }
  if (!type.startsWith('multipart/'))
    throw bad(`unsupported content type: ${type}, expected multipart/form-data or application/octet-stream`);
  const written: Written[] = [];
  for (const part of (await request.formData()).getAll('file')) {
    if (typeof part === 'string')
      throw bad(
        'error getting multipart custom part file name: filename not found in Content-Disposition header',
      );
    const path = expand(named ?? part.name);
    refuseTwice(path, written);
    written.push(await writeOne(root, path, part.stream()));
  }
  return Response.json(written);
};
