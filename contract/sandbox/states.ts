/** What requests say alike: names of objects, captured states, and bundles. */
import * as z from 'zod';

export const id = z.string();

export const state = z.strictObject({ tree: id, meta: id });

export const bundles = z
  .array(
    z.strictObject({
      how: z
        .enum(['base', 'link', 'small', 'many'])
        .describe('small: becomes loose objects; many: joined small ones, which become one pack'),
      sha256: z.string(),
      cuts: z.string().nullable().describe('SHA-256 of the places at which a joined one is cut'),
    }),
  )
  .describe('to be brought first; they are files of the call in the sandbox');
