/**
 * One X-Ray span for each call of a tool, where a function is traced. Elsewhere it does nothing. An author
 * need not do anything.
 */
import type { Tracer } from '@aws-lambda-powertools/tracer';
import type { ToolRequest } from '../contract/tool-request.ts';
import type { Outcome } from '../core/saga/decide/saga-events.ts';
import { annotationsOf } from '../core/saga/tools/tool-annotations.ts';
import { mayBeTraced } from '../core/shared/traced.ts';

/** Wraps a call and passes on its answer. */
export type Trace = (request: ToolRequest, call: () => Promise<Outcome>) => Promise<Outcome>;

interface Span {
  addAnnotation(name: string, value: string | number): void;
  close(): void;
}

const untraced: Trace = (_, call) => call();

const spanned = async (span: Span | undefined, ...[request, call]: Parameters<Trace>): Promise<Outcome> => {
  for (const [name, value] of Object.entries(annotationsOf(request))) span?.addAnnotation(name, value);
  try {
    const outcome = await call();
    span?.addAnnotation('outcome', outcome.outcome);
    return outcome;
  } finally {
    span?.close();
  }
};

/**
 * Loaded by the first call of a function that may be traced. Other functions neither load it nor need it
 * installed.
 */
const loadTracer = async (): Promise<Tracer | undefined> => {
  try {
    const powertools = await import('@aws-lambda-powertools/tracer');
    const tracer = new powertools.Tracer({ captureHTTPsRequests: false });
    return tracer.isTracingEnabled() ? tracer : undefined;
  } catch (error) {
    // An author who wants spans installs Powertools' tracer beside the kit.
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
};

/**
 * Each function may be traced or not (`POWERTOOLS_TRACE_ENABLED=false` turns it off here). Outside of Lambda
 * no tracer is made at all, because it would change how an author's own X-Ray SDK behaves. Tracing requests
 * to providers is up to the author.
 */
export const createSpans = (env: Readonly<Record<string, string | undefined>>): Trace => {
  if (!mayBeTraced(env)) return untraced;
  let loading: Promise<Tracer | undefined> | undefined;
  return async (request, call) => {
    const tracer = await (loading ??= loadTracer());
    if (tracer === undefined) return call();
    return new Promise((resolve, reject) => {
      tracer.provider.captureAsyncFunc(`## ${request.tool}`, (span) =>
        spanned(span, request, call).then(resolve, reject),
      );
    });
  };
};
