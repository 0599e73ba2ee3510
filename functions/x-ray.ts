/** Spans by Powertools and the SDK of X-Ray. */
import { Tracer } from '@aws-lambda-powertools/tracer';
import type { Tracing } from './tracing.ts';

/** Powertools offers spans as a decorator, which Node cannot run, so it is applied by hand. */
export const createXRay = (serviceName: string): Tracing => {
  const tracer = new Tracer({ serviceName });
  return {
    annotate: (key, value) => tracer.putAnnotation(key, value),
    spanned: (name, work) => {
      const method = {
        value: (...given: Parameters<typeof work>) => {
          tracer.annotateColdStart();
          tracer.addServiceNameAnnotation();
          return work(...given);
        },
      };
      tracer.captureMethod({ subSegmentName: `## ${name}`, captureResponse: false })({}, name, method);
      return method.value;
    },
  };
};
