import { postJson } from '../adapters/http/post.ts';
import { httpToolInput, makeHttpTool } from '../core/saga/http-tool.ts';
import { createHandler } from './handler.ts';
import { httpToolSecret, sagaTombstones } from './saga-runtime.ts';

export const handler = createHandler('http-tool', httpToolInput, async (runtime) =>
  makeHttpTool({
    post: postJson,
    readSecret: httpToolSecret(runtime),
    tombstones: sagaTombstones(runtime),
    now: () => runtime.clock.now().getTime(),
  }),
);
