/**
 * A loopback HTTP proxy that misbehaves on purpose: put it between the functions and one service, and say which
 * request meets which fault. It passes bodies through as they come, so streams stay streams.
 */
import { createServer, type IncomingMessage } from 'node:http';
import { act, type FaultAction } from './fault-actions.ts';
import { listenOnLoopback } from './loopback.ts';

interface RequestMatch {
  method?: string;
  /** Against the path with its query. */
  path?: string | RegExp;
  /** Against `x-amz-target`: the operation, for services that speak JSON. */
  operation?: string | RegExp;
}

export interface Fault {
  match?: RequestMatch;
  /** Which of the matching requests, counted from 1 since the plan was set; absent: every one. */
  at?: number;
  action: FaultAction;
}

interface SeenRequest {
  method: string;
  path: string;
  operation?: string;
  /** The fault it met. */
  action?: FaultAction['kind'];
}

export interface FaultProxy {
  url: string;
  /** Every request so far, in order of arrival. */
  seen: readonly SeenRequest[];
  count(match?: RequestMatch): number;
  /** Resolves when `count(match)` has reached `times`. */
  reached(times: number, match?: RequestMatch): Promise<void>;
  /** Replaces the faults and starts their counting again. */
  setPlan(plan: Fault[]): void;
  /** Ends every connection, also frozen ones. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const matchesText = (text: string, pattern: string | RegExp | undefined): boolean =>
  pattern === undefined || (typeof pattern === 'string' ? text.includes(pattern) : pattern.test(text));

const matchesRequest = (request: SeenRequest, match: RequestMatch = {}): boolean =>
  (match.method === undefined || match.method === request.method) &&
  matchesText(request.path, match.path) &&
  (match.operation === undefined || matchesText(request.operation ?? '', match.operation));

/** Counts matches of each fault, and picks the first one whose turn it is. */
const createPicker = (plan: Fault[]) => {
  const counts = plan.map(() => 0);
  let frozen = false;
  return (request: SeenRequest): FaultAction | undefined => {
    if (frozen) return { kind: 'freeze' };
    const due = plan.filter((fault, index) => {
      if (!matchesRequest(request, fault.match)) return false;
      counts[index] = (counts[index] ?? 0) + 1;
      return fault.at === undefined || fault.at === counts[index];
    });
    const action = due[0]?.action;
    frozen = action?.kind === 'freeze';
    return action;
  };
};

const operationOf = (incoming: IncomingMessage): string | undefined => {
  const header = incoming.headers['x-amz-target'];
  return typeof header === 'string' ? header : undefined;
};

export const startFaultProxy = async (options: { target: string; plan?: Fault[] }): Promise<FaultProxy> => {
  const target = new URL(options.target);
  const seen: SeenRequest[] = [];
  let waiters: { times: number; match?: RequestMatch; resolve: () => void }[] = [];
  let pick = createPicker(options.plan ?? []);

  const count = (match?: RequestMatch): number =>
    seen.filter((request) => matchesRequest(request, match)).length;
  const notify = (): void => {
    const isDone = (one: (typeof waiters)[number]): boolean => count(one.match) >= one.times;
    for (const waiter of waiters.filter(isDone)) waiter.resolve();
    waiters = waiters.filter((waiter) => !isDone(waiter));
  };

  const server = createServer((incoming, response) => {
    const operation = operationOf(incoming);
    const request: SeenRequest = {
      method: incoming.method ?? '',
      path: incoming.url ?? '',
      ...(operation !== undefined && { operation }),
    };
    const action = pick(request);
    if (action !== undefined) request.action = action.kind;
    seen.push(request);
    // The service being gone looks to the caller like the service being gone.
    act(target, incoming, response, action).catch(() => response.destroy());
    notify();
  });
  server.requestTimeout = 0;
  const port = await listenOnLoopback(server);

  const close = async (): Promise<void> => {
    const closed = Promise.withResolvers<void>();
    server.close(() => closed.resolve());
    server.closeAllConnections();
    await closed.promise;
  };
  return {
    // A request is signed with its path, so it arrives with the path that the service has.
    url: `http://127.0.0.1:${port}${target.pathname.replace(/\/$/, '')}`,
    seen,
    count,
    reached: (times, match) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiters.push({ times, ...(match !== undefined && { match }), resolve });
      notify();
      return promise;
    },
    setPlan: (plan) => {
      pick = createPicker(plan);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
};
