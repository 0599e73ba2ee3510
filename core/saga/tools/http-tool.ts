/** Calls a tool that is an HTTP endpoint. The endpoint is pinned in the saga; neither the model nor an argument chooses it. */
import { isLoopback } from '../../../contract/http-endpoint.ts';
import type { HttpToolInput } from '../../../contract/internal-inputs.ts';
import type { Outcome } from '../decide/saga-events.ts';
import { type HttpReply, readReply } from './http-response.ts';
import { endpointKey, SIGNATURE_HEADER, signatureHeader } from './http-signature.ts';
import { describeError, type GuardDependencies, guarded } from './tool-guard.ts';
import { MAX_RESPONSE_BYTES } from './tool-protocol.ts';

export interface HttpPost {
  url: string;
  headers: Record<string, string>;
  body: string;
  /** Aborts at the deadline. */
  signal: AbortSignal;
  /** Limit for the answer. */
  maxBytes: number;
}

interface HttpToolDependencies extends GuardDependencies {
  /** Never rejects, never follows a redirect. */
  post: (request: HttpPost) => Promise<HttpReply>;
  /** The secret from which the key of every endpoint is derived. */
  readSecret: () => Promise<string>;
  /**
   * Whether endpoints may be on this host. Allowed only where everything runs on one host, because in a
   * deployment Lambda's own runtime listens there.
   */
  loopback: boolean;
}

export const createHttpTool =
  (dependencies: HttpToolDependencies) =>
  async ({ endpoint: url, ...request }: HttpToolInput): Promise<Outcome> => {
    if (!dependencies.loopback && isLoopback(url)) {
      const error = { name: 'InvalidArguments', message: 'The endpoint is on a loopback host.' };
      return { outcome: 'rejected', error, retryable: false };
    }
    try {
      // Read before the guard, so that nothing slow comes between its checks and the call.
      const secret = await dependencies.readSecret();
      return await guarded(request, dependencies, async (signal) => {
        const body = JSON.stringify(request);
        const seconds = Math.floor(dependencies.now() / 1000);
        const headers = {
          'content-type': 'application/json',
          'idempotency-key': request.idempotencyKey,
          [SIGNATURE_HEADER]: signatureHeader(endpointKey(secret, url), { seconds, url, body }),
        };
        const reply = await dependencies.post({ url, headers, body, signal, maxBytes: MAX_RESPONSE_BYTES });
        return readReply(reply, dependencies.now());
      });
    } catch (error) {
      // `post` does not throw. So the secret or the tombstone could not be read, and nothing was sent.
      const plain = error instanceof Error ? error : new Error(String(error));
      const described = describeError(plain.name, plain.message);
      return { outcome: 'rejected', error: described, retryable: true, reached: false };
    }
  };
