/** The whole E2B server as one function from request to answer, so that tests can put something before it. */

import { sameSecret } from '../../core/shared/same-secret.ts';
import { createControlPlane } from './control-plane.ts';
import { createDataPlane, isDataPlane } from './data-plane.ts';
import type { Environment } from './environment.ts';
import { refusal } from './guard.ts';
import { openRegistry } from './registry.ts';

export interface E2bAppOptions {
  /** Created when missing; holds one directory per sandbox. */
  dataDir: string;
  /** The key that clients send as `X-API-KEY`. */
  apiKey: string;
  /** The environment from which commands get their PATH. Absent: that of this process. */
  environment?: Environment;
}

export interface E2bApp {
  fetch(request: Request): Promise<Response>;
  /** Ends every process. Sandboxes stay on disk. */
  close(): Promise<void>;
}

const refuse = (code: number, message: string): Response =>
  Response.json({ code, message }, { status: code });

export const createE2bApp = async ({
  dataDir,
  apiKey,
  environment = process.env,
}: E2bAppOptions): Promise<E2bApp> => {
  const registry = await openRegistry(dataDir);
  const control = createControlPlane(registry);
  const data = createDataPlane(registry, environment);
  return {
    fetch: async (request) => {
      const refused = refusal(request.headers);
      if (refused !== undefined) return refuse(403, refused);
      if (isDataPlane(new URL(request.url).pathname)) return data.fetch(request);
      if (!sameSecret(request.headers.get('x-api-key'), apiKey))
        return refuse(401, 'The API key is not valid');
      return control.fetch(request);
    },
    close: () => registry.close(),
  };
};
