/** Schemas of the bus's events, for the registry. */
import * as z from 'zod';

/** The whole event as EventBridge delivers it, in the form that the schema registry accepts. */
export const eventSchema = (name: string, detail: z.ZodObject): string => {
  const { $schema, ...body } = z.toJSONSchema(detail, { target: 'draft-4' });
  const envelope = {
    $schema: $schema ?? 'http://json-schema.org/draft-04/schema#',
    title: name,
    type: 'object',
    required: ['detail-type', 'source', 'detail', 'id', 'time', 'region', 'account', 'version'],
    properties: {
      version: { type: 'string' },
      id: { type: 'string' },
      'detail-type': { type: 'string', enum: [name] },
      source: { type: 'string', enum: ['walkback'] },
      account: { type: 'string' },
      time: { type: 'string', format: 'date-time' },
      region: { type: 'string' },
      resources: { type: 'array', items: { type: 'string' } },
      // Later versions may add fields. None is ever removed or changed.
      detail: { ...body, additionalProperties: true },
    },
  };
  return JSON.stringify(envelope);
};
