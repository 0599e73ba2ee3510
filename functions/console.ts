import { toAnswer, toRequest } from '../api/gateway-event.ts';
import { createConsoleApp } from './console-runtime.ts';
import { createEventHandler } from './handler.ts';

export const handler = createEventHandler('console', async (runtime) => {
  const app = createConsoleApp(runtime);
  const tooLarge = () => new Response('This page is larger than 6 MB. Ask for less of it.', { status: 413 });
  return async (event: unknown) => toAnswer(await app.fetch(toRequest(event)), tooLarge);
});
