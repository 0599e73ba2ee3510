/** E2B's daemon in a sandbox: its processes, files and health, for any client with the sandbox's access token. */
import { type Context, Hono } from 'hono';
import { sameSecret } from '../../core/shared/same-secret.ts';
import { tellFault } from '../tell-fault.ts';
import { ConnectFailure } from './connect-rpc.ts';
import { apiError, diskFull, isFull } from './control-plane.ts';
import type { Environment } from './environment.ts';
import { readSandboxFile, writeSandboxFiles } from './files.ts';
import { filesystemCall } from './filesystem-rpc.ts';
import { processCall, START } from './process-rpc.ts';
import type { Registry, Sandbox } from './registry.ts';
import { checkUser } from './user.ts';

const NO_TOKEN = 'unauthorized access, please provide a valid access token or method signing if supported';

const answerError = (error: Error, context: Context): Response => {
  if (error instanceof ConnectFailure) {
    if (context.req.path !== '/files') return context.json(error.body, error.status);
    return context.json({ code: error.status, message: error.message }, error.status);
  }
  if (isFull(error)) return diskFull(context);
  tellFault('local E2B', error);
  return context.json({ code: 'internal', message: 'The local sandbox failed' }, 500);
};

/** Why a request is refused; undefined when it is accepted. Anybody may ask for the health of a sandbox. */
const tokenRefusal = (request: Request, expected: string): string | undefined => {
  const path = new URL(request.url).pathname;
  const given = request.headers.get('x-access-token');
  if (path === '/health' || sameSecret(given, expected)) return undefined;
  if (path !== '/files') return NO_TOKEN;
  // The real daemon also accepts a signature in the query. That names no sandbox, so it is of no use here.
  return given ? 'access token present in header but does not match' : 'missing signature query parameter';
};

/** True for paths that E2B's daemon answers, in whatever sandbox the headers name. */
export const isDataPlane = (path: string): boolean =>
  path === '/health' || path === '/files' || /^\/(?:process\.Process|filesystem\.Filesystem)\//.test(path);

export const createDataPlane = (registry: Registry, environment: Environment) => {
  const app = new Hono<{ Variables: { sandbox: Sandbox } }>();

  app.use(async (context, next) => {
    const sandbox = registry.get(context.req.header('e2b-sandbox-id') ?? '');
    // E2B's proxy answers 502 when the sandbox does not exist, or does not at the moment.
    if (sandbox === undefined) return apiError(context, 502, 'The sandbox was not found');
    if (sandbox.record.state === 'paused') return apiError(context, 502, 'The sandbox is paused');
    const refused = tokenRefusal(context.req.raw, sandbox.record.accessToken);
    if (refused !== undefined) return apiError(context, 401, refused);
    if (context.req.path !== START) checkUser(context.req.raw);
    context.set('sandbox', sandbox);
    return next();
  });
  app.get('/health', (context) => context.body(null, 204));
  app.get('/files', (context) => readSandboxFile(context.get('sandbox'), context.req.raw));
  app.post('/files', (context) => writeSandboxFiles(context.get('sandbox'), context.req.raw));
  app.post('/process.Process/:method', (context) =>
    processCall(context.req.param('method'), context.get('sandbox'), environment, context.req.raw),
  );
  app.post('/filesystem.Filesystem/:method', (context) =>
    filesystemCall(context.req.param('method'), context.get('sandbox'), context.req.raw),
  );
  app.onError(answerError);
  return app;
};
