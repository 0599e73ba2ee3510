/** The app that docs/operations.md shows an embedder: it is the one in examples/embedded, and that one synthesises. */
import { execFile } from 'node:child_process';
import { mkdtempDisposable, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { PROJECT, type Template } from '../../local/template.ts';
import { entriesOf, machineStatements, statementsOf } from '../support/template.ts';

const APP = 'examples/embedded/app.ts';

test('docs/operations.md shows the app as it is', async () => {
  const source = await readFile(join(PROJECT, APP), 'utf8');
  const text = await readFile(join(PROJECT, 'docs/operations.md'), 'utf8');
  expect(text).toContain(`\`\`\`ts\n${source}\`\`\``);
});

test('the app synthesises, and everything it chooses is in its template', async () => {
  await using outdir = await mkdtempDisposable(join(tmpdir(), 'walkback-embedded-'));
  const context = JSON.stringify({ 'aws:cdk:bundling-stacks': [] });
  const env = {
    PATH: process.env['PATH'],
    CDK_OUTDIR: outdir.path,
    CDK_CONTEXT_JSON: context,
    CDK_VALIDATION: 'false',
  };
  await promisify(execFile)(process.execPath, [APP], { cwd: PROJECT, env });
  const file = await readFile(join(outdir.path, 'Agents.template.json'), 'utf8');
  const template = JSON.parse(file) as Template;

  const functions = entriesOf(template, 'AWS::Lambda::Function').map(([, { Properties }]) => Properties);
  const ours = functions.filter(({ FunctionName }) => String(FunctionName).startsWith('walkback-'));
  expect(ours.length).toBeGreaterThan(20);
  for (const properties of ours) expect(properties).toMatchObject({ VpcConfig: {}, KmsKeyArn: {} });
  expect(ours.find(({ FunctionName }) => FunctionName === 'walkback-advance-saga')).toMatchObject({
    ReservedConcurrentExecutions: 50,
  });
  const http = ours.find(({ FunctionName }) => FunctionName === 'walkback-http-tool');
  expect(JSON.stringify(http)).toContain('secret:walkback/http-tool');

  const topics = entriesOf(template, 'AWS::SNS::Topic').map(([id]) => id);
  expect(topics).toEqual([expect.stringMatching(/^Pager/)]);
  for (const [, { Properties }] of entriesOf(template, 'AWS::CloudWatch::Alarm')) {
    expect(JSON.stringify(Properties['AlarmActions'])).toContain(topics[0]);
  }

  const policies = JSON.stringify(entriesOf(template, 'AWS::SNS::TopicPolicy'));
  expect(policies).toMatch(/"Allow","Principal":\{"Service":"cloudwatch.amazonaws.com"\}/);

  const refund = functions.find(({ FunctionName }) => FunctionName === 'shop-refund');
  expect(refund).toMatchObject({ Timeout: 32, Environment: { Variables: { WALKBACK_SAGAS_TABLE: {} } } });
  expect(JSON.stringify(statementsOf(template, 'shop-refund'))).toContain('TOMBSTONE#*');
  expect(JSON.stringify(machineStatements(template))).toMatch(/lambda:InvokeFunction[^}]*"Refund/);
  expect(JSON.stringify(statementsOf(template, 'walkback-put-catalog'))).toMatch(
    /lambda:GetFunctionConfiguration[^}]*"Refund/,
  );
});
