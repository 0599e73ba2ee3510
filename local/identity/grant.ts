import * as z from 'zod';
import { LOCAL_AUDIENCE, LOCAL_SCOPE } from './mint.ts';

/** What a client asks the issuer for, and for whom. */
export const grantSchema = z.object({
  client_id: z.literal(LOCAL_AUDIENCE),
  scope: z.string().refine((scope) => scope.split(' ').includes(LOCAL_SCOPE)),
  /** Who signs in. */
  login_hint: z.string().trim().min(1).max(200),
  roles: z
    .string()
    .default('reviewer operator')
    .transform((text) => text.split(' ').filter((role) => role !== '')),
});
export type Grant = z.infer<typeof grantSchema>;
