/** The synthesised CDK template, from which the embedded cloud is provisioned. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { IS_PACKAGED, PROJECT } from './program.ts';

export { PROJECT } from './program.ts';

const templateSchema = z.object({
  Resources: z.record(
    z.string(),
    z.looseObject({
      Type: z.string(),
      Properties: z.record(z.string(), z.unknown()).default({}),
      Metadata: z.record(z.string(), z.unknown()).default({}),
    }),
  ),
});

export type Template = z.infer<typeof templateSchema>;
export type Resource = Template['Resources'][string];

const readTemplate = async (): Promise<string> => {
  if (IS_PACKAGED) return readFile(join(PROJECT, 'template.json'), 'utf8');
  const { synthesisedTemplate } = await import('./synthesis.ts');
  return synthesisedTemplate();
};

/**
 * The template of the one stack, as CloudFormation would get it. Throws `ConfigurationError` when it cannot
 * be made.
 */
export const loadTemplate = async (): Promise<Template> =>
  templateSchema.parse(JSON.parse(await readTemplate()));
