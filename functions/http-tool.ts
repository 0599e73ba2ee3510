import { postJson } from '../adapters/http/post.ts';
import { createHttpTool } from '../core/saga/tools/http-tool.ts';
import { annotationsOf } from '../core/saga/tools/tool-annotations.ts';
import { endLambdaInstance } from '../kit/end-instance.ts';
import { createHandler } from './handler.ts';
import { httpToolSecret, mayUseLoopbackTools, sagaTombstones } from './saga-runtime.ts';

export const handler = createHandler('http-tool', async (runtime) => {
  const call = createHttpTool({
    post: postJson,
    readSecret: httpToolSecret(runtime),
    tombstones: sagaTombstones(runtime),
    loopback: mayUseLoopbackTools(runtime),
    endInstance: endLambdaInstance,
    now: () => runtime.clock.now().getTime(),
  });
  return async (input) => {
    const { annotate } = runtime.telemetry;
    for (const [name, value] of Object.entries(annotationsOf(input))) annotate(name, value);
    const outcome = await call(input);
    annotate('outcome', outcome.outcome);
    return outcome;
  };
});
