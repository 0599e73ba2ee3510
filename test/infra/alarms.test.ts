/** Alarms ring for what they are about, reach somebody, and say what to do. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FUNCTIONS } from '../../cdk/functions.ts';
import { readSettings } from '../../cdk/settings.ts';
import { loadTemplate, PROJECT, type Template } from '../../local/template.ts';
import { synthesise } from '../support/synthesise.ts';
import { entriesOf } from '../support/template.ts';

const template = await loadTemplate();

describe('alarms', () => {
  test('each names a runbook that docs/operations.md has', async () => {
    const text = await readFile(join(PROJECT, 'docs/operations.md'), 'utf8');
    const anchors = new Set(
      [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title.toLowerCase().replaceAll(' ', '-')),
    );
    for (const [id, { Properties }] of entriesOf(template, 'AWS::CloudWatch::Alarm')) {
      const [, anchor = ''] = /Runbook: \S+#(\S+)$/.exec(String(Properties['AlarmDescription'])) ?? [];
      expect(anchors, id).toContain(anchor);
    }
  });

  /** People must act then. Each has a way to them that does not need the topic, which may be what is broken. */
  const FOR_PEOPLE: Readonly<Record<string, string>> = {
    'alert-undelivered': '1',
    'compensation-failed': '2',
    'saga-unfinished': '2',
    'saga-measurement-missing': '2',
    'ledger-anchor-missing': '2',
    'await-near-timeout': '3',
  };
  const OPS_ITEM = /:opsitem:([1-4])#CATEGORY=Recovery$/;

  const actionsOf = (from: Template) =>
    entriesOf(from, 'AWS::CloudWatch::Alarm').map(([, { Properties }]) => {
      const actions = (Properties['AlarmActions'] as unknown[]).map((action) => JSON.stringify(action));
      const opened = actions.flatMap(
        (action) => OPS_ITEM.exec(action.replaceAll(/["\]}]+$/g, ''))?.[1] ?? [],
      );
      return { name: String(Properties['AlarmName']).replace('walkback-', ''), actions, opened };
    });

  test('that mean that people must act have a way to them beside the topic', () => {
    const found = actionsOf(template);
    for (const { name, actions, opened } of found) {
      const severity = FOR_PEOPLE[name];
      expect(opened, name).toEqual(severity === undefined ? [] : [severity]);
      expect(actions, name).toHaveLength(1 + opened.length);
      expect(actions[0], name).toContain('"Ref":');
    }
    expect(found.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(FOR_PEOPLE)));
  });

  test('open no OpsItems where they are turned off', () => {
    const plain = synthesise(readSettings, { 'walkback:opsItems': 'false' }).template;
    for (const { name, actions } of actionsOf(plain)) expect(actions, name).toHaveLength(1);
  });

  test('an alert that was refused rings as long as the sweeper sees it, also when it looks at each saga in turn', () => {
    const [, alarm] =
      entriesOf(template, 'AWS::CloudWatch::Alarm').find(
        ([, { Properties }]) => Properties['AlarmName'] === 'walkback-alert-undelivered',
      ) ?? [];
    expect(alarm?.Properties).toMatchObject({
      MetricName: 'UnalertedSagas',
      Dimensions: expect.arrayContaining([{ Name: 'function', Value: 'sweep' }]),
      Statistic: 'Maximum',
      EvaluationPeriods: 15,
      DatapointsToAlarm: 1,
      Threshold: 1,
      TreatMissingData: 'notBreaching',
    });
  });

  test('can reach the topic: its policy takes the place of the default, which let them in', () => {
    const [[topic] = []] = entriesOf(template, 'AWS::SNS::Topic');
    const [[, policy] = []] = entriesOf(template, 'AWS::SNS::TopicPolicy');
    expect(policy?.Properties['PolicyDocument']).toMatchObject({
      Statement: expect.arrayContaining([
        {
          Sid: 'AlarmsOfTheAccount',
          Effect: 'Allow',
          Principal: { Service: 'cloudwatch.amazonaws.com' },
          Action: 'sns:Publish',
          Resource: { Ref: topic },
          Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
        },
      ]),
    });
  });

  test('see an error of an invocation that took as long as it may: Lambda dates it at its start', () => {
    for (const { name, timeoutSeconds } of FUNCTIONS) {
      const alarm = entriesOf(template, 'AWS::CloudWatch::Alarm')
        .map(([, { Properties }]) => Properties)
        .find(({ AlarmName }) => AlarmName === `walkback-errors-${name}`);
      const { EvaluationPeriods, DatapointsToAlarm } = alarm ?? {};
      // Of one minute each.
      expect(Number(EvaluationPeriods) * 60, name).toBeGreaterThan(timeoutSeconds + 180);
      expect(DatapointsToAlarm, name).toBe(1);
    }
  });

  test('tell when a clock has stopped: each rule by the clock has an alarm that needs no run to ring', () => {
    const alarms = new Map(
      entriesOf(template, 'AWS::CloudWatch::Alarm').map(([, { Properties }]) => [
        String(Properties['AlarmName']).replace('walkback-', ''),
        Properties,
      ]),
    );
    // What is not swept stays unfinished, and another function measures that.
    const watched: Record<string, string> = {
      SweepByClock: 'saga-unfinished',
      MeasureByClock: 'saga-measurement-missing',
      AnchorsByClock: 'ledger-anchor-missing',
    };
    const clocks = entriesOf(template, 'AWS::Events::Rule').filter(
      ([, { Properties }]) => Properties['ScheduleExpression'] !== undefined,
    );
    for (const [id] of clocks) {
      const [, alarm = ''] = Object.entries(watched).find(([rule]) => id.includes(rule)) ?? [];
      expect(alarms.keys(), id).toContain(alarm);
    }
    expect(clocks).toHaveLength(Object.keys(watched).length);
    for (const name of ['saga-measurement-missing', 'ledger-anchor-missing'])
      expect(alarms.get(name)?.['TreatMissingData'], name).toBe('breaching');
  });

  test('look at the runs of anchor-ledger: as long without one as the ledger is said to be broken', () => {
    const { Properties } =
      entriesOf(template, 'AWS::CloudWatch::Alarm').find(
        ([, one]) => one.Properties['AlarmName'] === 'walkback-ledger-anchor-missing',
      )?.[1] ?? {};
    const [anchor] =
      entriesOf(template, 'AWS::Lambda::Function').find(
        ([, one]) => one.Properties['FunctionName'] === 'walkback-anchor-ledger',
      ) ?? [];
    expect(Properties).toMatchObject({
      Namespace: 'AWS/Lambda',
      MetricName: 'Invocations',
      Dimensions: [{ Name: 'FunctionName', Value: { Ref: anchor } }],
    });
    expect(Number(Properties?.['Period']) * Number(Properties?.['EvaluationPeriods'])).toBe(3 * 3600);
    expect(Properties?.['DatapointsToAlarm']).toBe(Properties?.['EvaluationPeriods']);
  });

  test('are there for everything that needs a person', () => {
    const names = entriesOf(template, 'AWS::CloudWatch::Alarm').map(([, { Properties }]) =>
      String(Properties['AlarmName']).replace('walkback-', ''),
    );
    expect(names).toEqual(
      expect.arrayContaining([
        'compensation-failed',
        'execution-failed',
        'execution-timed-out',
        'execution-aborted',
        'saga-unfinished',
        'tool-unavailable',
        'await-near-timeout',
        'checkpoint-incomplete',
        'dead-letters-SessionEvents',
        'dead-letters-SagaEvents',
        'dead-letters-Sweeper',
        ...FUNCTIONS.flatMap(({ name }) => [`errors-${name}`, `throttles-${name}`]),
      ]),
    );
  });
});
