import { createHttpTool } from '../core/saga/tools/http-tool.ts';
import { annotationsOf } from '../core/saga/tools/tool-annotations.ts';
import { createHandler } from './handler.ts';
import { httpToolPorts } from './http-tool-runtime.ts';

export const handler = createHandler('http-tool', async (runtime) => {
  const call = createHttpTool(httpToolPorts(runtime));
  return async (input) => {
    const { annotate } = runtime.telemetry;
    for (const [name, value] of Object.entries(annotationsOf(input))) annotate(name, value);
    const outcome = await call(input);
    annotate('outcome', outcome.outcome);
    return outcome;
  };
});
