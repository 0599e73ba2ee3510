/** The part of the composition root that wires calls of HTTP tools. */

import { createSecret } from '../adapters/aws/secret.ts';
import { postJson } from '../adapters/http/post.ts';
import type { createHttpTool } from '../core/saga/tools/http-tool.ts';
import { endLambdaInstance } from '../kit/end-instance.ts';
import { type Runtime, required } from './runtime.ts';
import { mayUseLoopbackTools, sagaTombstones } from './saga-runtime.ts';

/** Read when first needed. A secret that did not exist yet is looked for again. */
const httpToolSecret = ({ env, clock }: Runtime): (() => Promise<string>) =>
  createSecret(required(env, 'WALKBACK_HTTP_TOOL_SECRET_ARN'), { now: () => clock.now().getTime() });

export const httpToolPorts = (runtime: Runtime): Parameters<typeof createHttpTool>[0] => ({
  post: postJson,
  readSecret: httpToolSecret(runtime),
  tombstones: sagaTombstones(runtime),
  loopback: mayUseLoopbackTools(runtime),
  endInstance: endLambdaInstance,
  now: () => runtime.clock.now().getTime(),
});
