/** What becomes of a method that an address does not take: it is told which ones it takes. */
import type { Context, Env, Hono } from 'hono';

type Answer<E extends Env> = (c: Context<E>, takes: string) => Response | Promise<Response>;

/** Of every address of the app so far. A GET answers HEAD too. Called when all its addresses are there. */
export const refuseOtherMethods = <E extends Env>(app: Hono<E>, answer: Answer<E>): void => {
  const methods = new Map<string, string[]>();
  for (const { method, path } of app.routes) {
    // What is before the pages is for every method.
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
