/** The HTTP API, as data: where its routes are, and what it takes. */

/** Every function that people may call is `POST /v1/<name>`. */
export const API_BASE = '/v1';
export const OPENAPI_PATH = '/openapi.json';

/** How long the gateway waits for a function: the longest there is. */
export const GATEWAY_SECONDS = 29;
/** Its functions end before, so that their own answer is what one sees. */
export const API_SECONDS = 28;
/** After this long the answer is that the function goes on; the rest is for the way back. */
export const API_PATIENCE_SECONDS = 25;
/** How long a caller waits before it asks again. */
export const API_RETRY_SECONDS = 2;

/** Of a body: below the 6 MB of a Lambda event, with room for the token and what JSON adds. */
export const MAX_API_BODY_BYTES = 4 * 1024 * 1024;

/** Fields of a request that the token stands for. */
export const IDENTITY_FIELDS = ['by', 'proof'] as const;
