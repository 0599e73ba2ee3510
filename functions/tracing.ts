/**
 * Makes spans for calls, where they are traced. The code for this takes 75 ms to import, so it is loaded only
 * there.
 */
import { mayBeTraced } from '../core/shared/traced.ts';
import type { Environment } from './runtime.ts';

export interface Tracing {
  annotate: (name: string, value: string | number) => void;
  /** Runs `work` in a span of its own. */
  spanned: <Given extends unknown[], Answer>(
    name: string,
    work: (...given: Given) => Promise<Answer>,
  ) => (...given: Given) => Promise<Answer>;
}

const UNTRACED: Tracing = { annotate: () => undefined, spanned: (_, work) => work };

export const loadTracing = async (env: Environment, serviceName: string): Promise<Tracing> => {
  if (!mayBeTraced(env)) return UNTRACED;
  const { createXRay } = await import('./x-ray.ts');
  return createXRay(serviceName);
};
