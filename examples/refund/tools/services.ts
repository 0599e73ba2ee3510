import type { Fetch } from './http.ts';

/** Where the tools find the services, and how they reach them. */
export interface RefundServices {
  fetch: Fetch;
  stripe: { baseUrl: string; apiKey: string };
  zendesk: { baseUrl: string };
  netsuite: { baseUrl: string };
  shop: { baseUrl: string };
}

/** All services below one base URL, as `refundWorld` mounts them. */
export const servicesAt = (baseUrl: string, apiKey: string, fetch: Fetch): RefundServices => ({
  fetch,
  stripe: { baseUrl: `${baseUrl}/stripe`, apiKey },
  zendesk: { baseUrl: `${baseUrl}/zendesk` },
  netsuite: { baseUrl: `${baseUrl}/netsuite` },
  shop: { baseUrl: `${baseUrl}/shop` },
});
