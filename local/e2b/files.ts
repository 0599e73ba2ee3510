/** `GET` and `POST /files`: the content of files in a sandbox, streamed. */
import { createReadStream } from 'node:fs';
import { mkdir, open, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { ConnectFailure } from './connect-rpc.ts';
import { resolvePath } from './paths.ts';
import type { Sandbox } from './registry.ts';

const pathParameter = (request: Request): string | null => new URL(request.url).searchParams.get('path');

const required = (path: string | null): string => {
  if (path === null || path === '') throw new ConnectFailure('invalid_argument', 'path is missing');
  return path;
};

export const readSandboxFile = async (sandbox: Sandbox, request: Request): Promise<Response> => {
  const path = required(pathParameter(request));
  const file = await resolvePath(path, sandbox.root);
  const found = await stat(file).catch((cause: unknown) => {
    throw new ConnectFailure('not_found', `path '${path}' does not exist`, { cause });
  });
  if (!found.isFile()) throw new ConnectFailure('invalid_argument', `path '${path}' is not a file`);
  const headers = { 'content-type': 'application/octet-stream', 'content-length': String(found.size) };
  if (found.size === 0) return new Response(null, { headers });
  return new Response(ReadableStream.from(createReadStream(file, { end: found.size - 1 })), { headers });
};

const writeOne = async (
  sandbox: Sandbox,
  path: string,
  content: AsyncIterable<Uint8Array>,
): Promise<{ name: string; path: string; type: 'file' }> => {
  const file = await resolvePath(path, sandbox.root);
  if ((await stat(file).catch(() => undefined))?.isDirectory() === true)
    throw new ConnectFailure('invalid_argument', `path '${path}' is a directory`);
  await mkdir(dirname(file), { recursive: true });
  const handle = await open(file, 'w');
  try {
    await handle.writeFile(content);
  } finally {
    await handle.close();
  }
  return { name: basename(path), path, type: 'file' };
};

const rawContent = (request: Request): ReadableStream<Uint8Array> => {
  const body = request.body ?? new ReadableStream({ start: (controller) => controller.close() });
  return request.headers.get('content-encoding') === 'gzip'
    ? body.pipeThrough(new DecompressionStream('gzip'))
    : body;
};

/** Several files, each named by its path; or one raw body for the `path` of the query. */
export const writeSandboxFiles = async (sandbox: Sandbox, request: Request): Promise<Response> => {
  const named = pathParameter(request);
  if (request.headers.get('content-type')?.startsWith('multipart/form-data') !== true)
    return Response.json([await writeOne(sandbox, required(named), rawContent(request))]);
  const written = [];
  for (const part of (await request.formData()).getAll('file')) {
    if (typeof part === 'string') throw new ConnectFailure('invalid_argument', 'a part has no file name');
    written.push(await writeOne(sandbox, named ?? required(part.name), part.stream()));
  }
  return Response.json(written);
};
