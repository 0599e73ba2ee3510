/**
 * E2B's REST API for the life of sandboxes. The body of an error has the status too, because the SDK reads it
 * there.
 */
import { type Context, Hono } from 'hono';
import * as z from 'zod';
import { DAY_SECONDS } from '../../contract/times.ts';
import { MOUNTED_BY } from '../../core/checkpoint/copies/sandbox-users.ts';
import { tellFault } from '../tell-fault.ts';
import { listSandboxes, parseListQuery } from './list.ts';
import type { Registry, Sandbox } from './registry.ts';
import { MountError } from './rootfs.ts';

/** New enough for octet-stream uploads and file metadata. */
const ENVD_VERSION = '0.9.1';
const MAX_TIMEOUT_SECONDS = DAY_SECONDS;
/** The end time that is answered for a sandbox that never ends. */
const NEVER = '9999-12-31T23:59:59.000Z';

const timeout = z.int().min(0).max(MAX_TIMEOUT_SECONDS);
const strings = z.record(z.string(), z.string());

const createBody = z.object({
  templateID: z.string().default('base'),
  metadata: strings.default({}),
  envVars: strings.default({}),
  timeout: timeout.optional(),
  autoPause: z.boolean().default(false),
  volumeMounts: z.array(z.object({ name: z.string(), path: z.string() })).default([]),
});
const connectBody = z.object({ timeout: timeout.optional() });
const timeoutBody = z.object({ timeout });
const pauseBody = z.object({ memory: z.boolean().default(true) });

export const apiError = (
  context: Context,
  code: 400 | 401 | 403 | 404 | 409 | 500 | 502 | 507,
  message: string,
) => context.json({ code, message }, code);

export const isFull = (error: Error): boolean =>
  'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');

export const diskFull = (context: Context) => apiError(context, 507, 'There is not enough disk space');

const notFound = (context: Context, id: string) => apiError(context, 404, `Sandbox ${id} was not found`);

const milliseconds = (seconds: number | undefined): number | undefined =>
  seconds === undefined ? undefined : seconds * 1000;

const handle = ({ record }: Sandbox) => ({
  sandboxID: record.sandboxId,
  templateID: record.templateId,
  clientID: 'local',
  envdVersion: ENVD_VERSION,
  envdAccessToken: record.accessToken,
});

const tagsOf = ({ id, record }: Sandbox, mountedBy: ReadonlyMap<string, string[]>) => {
  const by = mountedBy.get(id);
  return by === undefined ? record.metadata : { ...record.metadata, [MOUNTED_BY]: by.join(',') };
};

/** The description that anyone with the API key may see. It leaves out the access token. */
const description = (sandbox: Sandbox, mountedBy: ReadonlyMap<string, string[]>) => {
  const { record } = sandbox;
  return {
    sandboxID: record.sandboxId,
    templateID: record.templateId,
    clientID: 'local',
    envdVersion: ENVD_VERSION,
    startedAt: new Date(record.startedAtMs).toISOString(),
    endAt: record.endAtMs === null ? NEVER : new Date(record.endAtMs).toISOString(),
    state: record.state,
    cpuCount: 2,
    memoryMB: 512,
    diskSizeMB: 10_240,
    metadata: tagsOf(sandbox, mountedBy),
    volumeMounts: record.mounts.map(({ path, directory }) => ({ name: directory, path })),
  };
};

const readBody = async <T>(context: Context, schema: z.ZodType<T>): Promise<T> => {
  const text = await context.req.text();
  return schema.parse(text === '' ? {} : JSON.parse(text));
};

const lifecycle = (app: Hono, registry: Registry): void => {
  app.post('/v2/sandboxes', async (context) => {
    const body = await readBody(context, createBody);
    const sandbox = await registry.create({
      templateId: body.templateID,
      metadata: body.metadata,
      envs: body.envVars,
      onTimeout: body.autoPause ? 'pause' : 'kill',
      mounts: body.volumeMounts.map(({ name, path }) => ({ path, directory: name })),
      timeoutMs: milliseconds(body.timeout),
    });
    return context.json(handle(sandbox), 201);
  });

  app.post('/v2/sandboxes/:id/connect', async (context) => {
    const id = context.req.param('id');
    const body = await readBody(context, connectBody);
    const was = await registry.connect(id, milliseconds(body.timeout));
    const sandbox = registry.get(id);
    if (was === undefined || sandbox === undefined) return notFound(context, id);
    return context.json(handle(sandbox), was === 'resumed' ? 201 : 200);
  });

  app.post('/sandboxes/:id/timeout', async (context) => {
    const id = context.req.param('id');
    const body = await readBody(context, timeoutBody);
    const found = await registry.setTimeout(id, body.timeout * 1000);
    return found ? context.body(null, 204) : notFound(context, id);
  });

  app.post('/sandboxes/:id/pause', async (context) => {
    const id = context.req.param('id');
    const paused = await registry.pause(id, (await readBody(context, pauseBody)).memory);
    if (paused === undefined) return notFound(context, id);
    return paused === 'paused' ? context.body(null, 204) : apiError(context, 409, `${id} is already paused`);
  });

  app.delete('/sandboxes/:id', async (context) => {
    const id = context.req.param('id');
    return (await registry.kill(id)) ? context.body(null, 204) : notFound(context, id);
  });
};

const queries = (app: Hono, registry: Registry): void => {
  app.get('/sandboxes/:id', async (context) => {
    const id = context.req.param('id');
    const sandbox = registry.get(id);
    if (sandbox === undefined) return notFound(context, id);
    return context.json(description(sandbox, await registry.mountedBy()));
  });

  app.get('/v2/sandboxes', async (context) => {
    const query = parseListQuery(new URL(context.req.url).searchParams);
    const { page, nextToken } = listSandboxes(registry.all(), query);
    if (nextToken !== undefined) context.header('x-next-token', nextToken);
    const mountedBy = await registry.mountedBy();
    return context.json(page.map((sandbox) => description(sandbox, mountedBy)));
  });

  // Not part of E2B: where a local sandbox's files are.
  app.get('/local/sandboxes/:id', (context) => {
    const id = context.req.param('id');
    const sandbox = registry.get(id);
    if (sandbox === undefined) return notFound(context, id);
    const mounts = Object.fromEntries(sandbox.root.mounts.map(({ path, directory }) => [path, directory]));
    return context.json({ rootfs: sandbox.root.rootfs, mounts });
  });
};

const describeInvalid = (error: z.ZodError): string =>
  error.issues.map((issue) => `${issue.path.join('.') || 'body'}: ${issue.message}`).join('; ');

export const createControlPlane = (registry: Registry): Hono => {
  const app = new Hono();
  lifecycle(app, registry);
  queries(app, registry);
  app.notFound((context) => apiError(context, 404, `${context.req.method} ${context.req.path} is not known`));
  app.onError((error, context) => {
    if (error instanceof z.ZodError) return apiError(context, 400, describeInvalid(error));
    if (error instanceof SyntaxError) return apiError(context, 400, 'The body is not JSON');
    if (error instanceof MountError) return apiError(context, 400, error.message);
    if (isFull(error)) return diskFull(context);
    tellFault('local E2B', error);
    return apiError(context, 500, 'The local E2B failed');
  });
  return app;
};
