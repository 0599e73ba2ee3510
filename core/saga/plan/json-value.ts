import * as z from 'zod';
import type { Json, JsonObject } from '../model.ts';

/** Any JSON value; what is not one is refused. */
export const jsonValue: z.ZodType<Json> = z.lazy(() =>
  z.union([
    z.null(),
    z.boolean(),
    z.number(),
    z.string(),
    z.array(jsonValue),
    z.record(z.string(), jsonValue),
  ]),
);

export const jsonObject: z.ZodType<JsonObject> = z.record(z.string(), jsonValue);
