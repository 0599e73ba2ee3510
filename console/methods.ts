/** Answers a method that an address does not accept with the methods that it accepts. */
import type { Context, Env, Hono } from 'hono';

type Answer<E extends Env> = (c: Context<E>, takes: string) => Response | Promise<Response>;

/** Covers every address of the app so far, so call it when all addresses are there. A GET also answers HEAD. */
export const refuseOtherMethods = <E extends Env>(app: Hono<E>, answer: Answer<E>): void => {
  const methods = new Map<string, string[]>();
  for (const { method, path } of app.routes) {
    // What comes before the pages handles every method.
    if (method === 'ALL') continue;
    methods.set(path, [...(methods.get(path) ?? []), ...(method === 'GET' ? ['GET', 'HEAD'] : [method])]);
  }
  for (const [path, taken] of methods) {
    const takes = [...new Set(taken)].join(', ');
    app.all(path, (c) => {
      c.header('allow', takes);
      return answer(c, takes);
    });
  }
};
