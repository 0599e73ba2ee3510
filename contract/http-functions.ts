/** The functions behind the HTTP API. They are deployed where people can sign in. */
import type { FunctionRow } from './function-row.ts';
import { API_SECONDS } from './http-api.ts';

export const HTTP_FUNCTIONS = {
  api: {
    description: 'Answers the HTTP API: calls functions for people who are signed in',
    callers: ['internal'],
    timeoutSeconds: API_SECONDS,
    grants: { servesPeople: true, identifiesPeople: true },
  },
  console: {
    description: 'Serves the console: signs people in, and shows them what functions answer',
    callers: ['internal'],
    timeoutSeconds: API_SECONDS,
    grants: { servesPeople: true, identifiesPeople: true, signsPeopleIn: true },
  },
} as const satisfies Record<string, FunctionRow>;
