import * as z from 'zod';

/** Where a sandbox's files are on this machine, as the embedded cloud answers it. */
export const placesSchema = z.object({
  rootfs: z.string(),
  mounts: z.record(z.string(), z.string()).default({}),
});
