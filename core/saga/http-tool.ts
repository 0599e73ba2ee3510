/** Calls a tool that is an HTTP endpoint. The endpoint is pinned in the saga; neither the model nor an argument chooses it. */
import * as z from 'zod';
import type { Outcome } from './events.ts';
import { type HttpReply, readReply } from './http-answer.ts';
import { endpointProblem } from './http-endpoint.ts';
import { SIGNATURE_HEADER, signatureHeader } from './http-signature.ts';
import { describeError, type GuardDependencies, guarded } from './tool-guard.ts';
import { MAX_ANSWER_BYTES, toolRequest } from './tool-protocol.ts';

const endpoint = z.string().superRefine((value, context) => {
  const problem = endpointProblem(value);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
});

export const httpToolInput = z.strictObject({ ...toolRequest.shape, endpoint });
type HttpToolInput = z.infer<typeof httpToolInput>;

export interface HttpPost {
  url: string;
  headers: Record<string, string>;
  body: string;
  /** Aborts at the deadline. */
  signal: AbortSignal;
  /** Of the answer. */
  maxBytes: number;
}

interface HttpToolDependencies extends GuardDependencies {
  /** Never rejects, never follows a redirect. */
  post: (request: HttpPost) => Promise<HttpReply>;
  /** The key of the signatures. */
  readSecret: () => Promise<string>;
}

export const makeHttpTool =
  (dependencies: HttpToolDependencies) =>
  async ({ endpoint: url, ...request }: HttpToolInput): Promise<Outcome> => {
    try {
      // Before the guard: nothing slow comes between its checks and the call.
      const secret = await dependencies.readSecret();
      return await guarded(request, dependencies, async (signal) => {
        const body = JSON.stringify(request);
        const headers = {
          'content-type': 'application/json',
          'idempotency-key': request.idempotencyKey,
          [SIGNATURE_HEADER]: signatureHeader(secret, Math.floor(dependencies.now() / 1000), body),
        };
        return readReply(await dependencies.post({ url, headers, body, signal, maxBytes: MAX_ANSWER_BYTES }));
      });
    } catch (error) {
      // `post` does not throw: the secret or the tombstone could not be reached, and nothing was sent.
      const plain = error instanceof Error ? error : new Error(String(error));
      return { outcome: 'rejected', error: describeError(plain.name, plain.message), retryable: true };
    }
  };
