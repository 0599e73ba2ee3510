/** Counts the requests that the functions of an embedded cloud send, as they leave: a retry is one more. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import { runningFunction } from '../../local/lambda/invoke.ts';

/** The AWS SDK asks through `node:http`, and the SDK of the sandboxes through `fetch`. */
const AWS = 'http.client.request.start';
const SANDBOXES = 'undici:request:create';

interface Fetched {
  method: string;
  path: string;
}

/** An operation of a service that speaks JSON, or what is done to an object. */
const awsName = ({ request }: { request: ClientRequest }): string => {
  const target = request.getHeader('x-amz-target');
  return typeof target === 'string' ? target.replace(/^.*\./, '') : `S3 ${request.method}`;
};

const sandboxName = ({ request: { method, path } }: { request: Fetched }): string => {
  if (path.startsWith('/process.Process')) return 'command';
  return path.startsWith('/files') ? `file ${method}` : `sandbox ${method}`;
};

/** Counts until it is disposed of. What the cloud itself and the test ask for is left out. */
export const countRequests = (): {
  /** How often each was sent since the last call. */
  take(): Record<string, number>;
  [Symbol.dispose](): void;
} => {
  let counts = new Map<string, number>();
  const counting =
    <Message>(nameOf: (message: Message) => string) =>
    (message: unknown): void => {
      if (runningFunction.getStore() === undefined) return;
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the channel publishes
      const name = nameOf(message as Message);
      counts.set(name, (counts.get(name) ?? 0) + 1);
    };
  const ofAws = counting(awsName);
  const ofSandboxes = counting(sandboxName);
  subscribe(AWS, ofAws);
  subscribe(SANDBOXES, ofSandboxes);
  return {
    take: () => {
      const taken = Object.fromEntries([...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)));
      counts = new Map();
      return taken;
    },
    [Symbol.dispose]: () => {
      unsubscribe(AWS, ofAws);
      unsubscribe(SANDBOXES, ofSandboxes);
    },
  };
};
