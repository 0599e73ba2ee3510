/** Nothing deployed is bound to one partition of AWS. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { adaptDefinition } from '../../local/stepfunctions/definition.ts';
import { loadTemplate, PROJECT } from '../../local/template.ts';
import { entriesOf } from '../support/template.ts';

const template = await loadTemplate();

test('the template, its definitions and the sources of both name no partition: they work in China and GovCloud too', async () => {
  const FIXED = /\barn:(?:aws|aws-cn|aws-us-gov|aws-iso[-\w]*):/;
  expect(JSON.stringify(template)).not.toMatch(FIXED);
  const files = (
    await Promise.all(
      ['cdk', 'statemachines'].map((folder) =>
        readdir(join(PROJECT, folder), { recursive: true, withFileTypes: true }),
      ),
    )
  )
    .flat()
    .filter((entry) => entry.isFile());
  expect(files.length).toBeGreaterThan(20);
  for (const { parentPath, name } of files)
    expect(await readFile(join(parentPath, name), 'utf8'), name).not.toMatch(FIXED);
});

test.each(['aws', 'aws-cn', 'aws-us-gov'])('the machine calls the integrations of %s', (partition) => {
  const [[, machine] = []] = entriesOf(template, 'AWS::StepFunctions::StateMachine');
  const { DefinitionString, DefinitionSubstitutions } = machine?.Properties ?? {};
  expect(DefinitionSubstitutions).toMatchObject({ Partition: { Ref: 'AWS::Partition' } });
  const { tasks } = adaptDefinition(String(DefinitionString), {
    AdvanceSagaFunction: 'a',
    AnnounceAwaitFunction: 'b',
    AlertTopic: 'c',
    Partition: partition,
  });
  expect(new Set(tasks.values())).toEqual(
    new Set(
      ['lambda:invoke', 'lambda:invoke.waitForTaskToken', 'sns:publish'].map(
        (one) => `arn:${partition}:states:::${one}`,
      ),
    ),
  );
});
