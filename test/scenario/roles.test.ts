/** Each role's policy is enough for its commands, and for nothing else: the real command over the embedded cloud. */
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CliError } from '../../cli/failure.ts';
import type { DeployedName } from '../../contract/invoke.ts';
import { PEOPLE_ROWS, PERSON_ROLES, type PersonRole } from '../../contract/people.ts';
import { loadTemplate, type Template } from '../../local/template.ts';
import { FunctionFailure } from '../support/cloud.ts';
import { invokedBy, mayInvoke, POLICIES, policyOf } from '../support/policies.ts';
import { runCommand } from '../support/recording-app.ts';
import { type SagaCloud, startSagaCloud } from '../support/saga-cloud.ts';

const NO_SESSION = ['--session', 'nobody'];
const TODAY = new Date().toISOString().slice(0, 10);
const LEDGER = [
  ['ledger', 'query', '--day', TODAY],
  ['ledger', 'query', '--effects'],
  ['ledger', 'query', '--totals', '--csv'],
  ['ledger', 'query', '--saga', 'order-9'],
  ['ledger', 'verify', 'order-9'],
];
const REWINDS = [
  ['rewind', '--saga', 'order-9', '--to', 'verify', '--dry-run', '--by', 'ada'],
  ['rewind', '--to', 'm1', '--dry-run', '--by', 'ada', ...NO_SESSION],
];
/** What the page of a session does. */
const SESSION = [
  ['session', 'list'],
  ['log', ...NO_SESSION],
  ['diff', 'm1', 'm2', ...NO_SESSION],
  ['changes', 'm1', ...NO_SESSION],
  ['blame', 'api/a.txt', ...NO_SESSION],
  ['search', 'a.txt'],
  ['rehydrate', ...NO_SESSION],
  ['rollback', '--to', 'm1', '--yes', ...NO_SESSION],
  ['revert', 'm1', '--yes', ...NO_SESSION],
  ['bisect', '--command', 'true', ...NO_SESSION],
];

const COPIES = [['copies'], ['copies', 'delete', 'nobody', '--yes']];

/** What docs/cli.md has for each of them. A session that is not there is refused by the function, which was reached. */
const commandsOf = (directory: string): Record<PersonRole, string[][]> => ({
  finance: [
    ...LEDGER,
    ['ledger', 'verify', '--all', '--day', TODAY],
    ['ledger', 'export', join(directory, 'entries.csv'), '--day', TODAY],
    ['ledger', 'export', join(directory, 'effects.csv'), '--effects'],
  ],
  reviewer: [
    ...LEDGER,
    ...REWINDS,
    ...SESSION,
    ['catalog', 'list'],
    ['verify-commitments', join(directory, 'commitments.json'), ...NO_SESSION],
    ...COPIES,
    ['saga', 'list'],
    ['saga', 'show', 'order-9'],
    ['saga', 'approve', 'order-9', 'verify', '--by', 'ada'],
    ['locks', 'list'],
  ],
  operator: [
    ...LEDGER,
    ...REWINDS,
    ...SESSION,
    ...COPIES,
    ['preflight', '--sandbox', 'nobody', '--root', '/home/user'],
    ['saga', 'list'],
    ['saga', 'show', 'order-9'],
    ['saga', 'retry', 'order-9', '--by', 'olga'],
    ['saga', 'park', 'order-9', '--summary', 'later'],
    ['ledger', 'backfill', '--from', TODAY],
    ['locks', 'list'],
    ['catalog', 'list'],
    ['catalog', 'put', join(directory, 'catalog.json')],
  ],
});

/** Granted, and not called here. */
const WITHOUT_COMMAND: Partial<Record<PersonRole, Record<string, string>>> = {
  reviewer: {
    'delete-copy': 'copies delete calls it for a copy, and there is none',
    progress:
      'a command that captures or searches asks for it after two seconds, and nothing takes so long here',
  },
  operator: {
    progress:
      'a command that captures or searches asks for it after two seconds, and nothing takes so long here',
    'delete-copy': 'copies delete calls it for a copy, and there is none',
    sweep: 'an operator may start it by hand, instead of waiting for its minute',
    'anchor-ledger': 'ledger verify calls it when digests are late, which they are not here',
  },
};

const REFUSALS = [
  'SessionNotFound',
  'SandboxNotFound',
  'AnswerConflict',
  'OperationRefused',
  'SagaNotInteractive',
];

let template: Template;
let sagas: SagaCloud;
const reached = new Map<PersonRole, Set<string>>();

/** The command, with what the role's policy lets through. */
const runAs = async (role: PersonRole, argv: string[]) => {
  const denied: string[] = [];
  const names = reached.get(role) ?? new Set();
  reached.set(role, names);
  const invoke = (name: string) => async (input: unknown) => {
    if (!mayInvoke(template, role, name)) {
      denied.push(name);
      throw new CliError('ConfigurationError', `not authorized to perform lambda:InvokeFunction on ${name}`);
    }
    names.add(name);
    try {
      return await sagas.cloud.invoke(name, input);
    } catch (error) {
      if (error instanceof FunctionFailure)
        throw new CliError(error.errorType, error.message, { cause: error });
      throw error;
    }
  };
  const answers = Object.fromEntries(
    PEOPLE_ROWS.map(({ name }) => [`walkback-${name}` as DeployedName, invoke(name)]),
  );
  const { failure } = await runCommand([...argv, '--json'], { answers, cwd: tmpdir() });
  return { denied, failure };
};

beforeAll(async () => {
  template = await loadTemplate();
  sagas = await startSagaCloud();
  sagas.faults.refuseMail = true;
  await sagas.start('order-9');
  expect((await sagas.observe('order-9')).status).toBe('COMPENSATED');
});
afterAll(() => sagas.close());

describe.each(PERSON_ROLES)('%s', (role) => {
  test('can run its commands, and they need all that its policy grants', async () => {
    await using directory = await mkdtempDisposable(join(tmpdir(), 'walkback-roles-'));
    await writeFile(join(directory.path, 'catalog.json'), JSON.stringify({ tools: [], definitions: [] }));
    await writeFile(
      join(directory.path, 'commitments.json'),
      JSON.stringify([{ id: 'runs', description: 'it runs', command: 'true' }]),
    );
    for (const argv of commandsOf(directory.path)[role]) {
      const { denied, failure } = await runAs(role, argv);
      // To anchor first is offered to who may; a check needs only to read.
      const isOffer = argv[1] === 'verify' && denied.join() === 'anchor-ledger';
      expect(isOffer ? [] : denied, argv.join(' ')).toEqual([]);
      // Refused by the function, for its reasons: so it was reached.
      if (failure !== undefined)
        expect(REFUSALS, `${argv.join(' ')}: ${failure.message}`).toContain(failure.name);
    }
    const granted = invokedBy(template, role);
    const byHand = Object.keys(WITHOUT_COMMAND[role] ?? {});
    expect(new Set([...(reached.get(role) ?? []), ...byHand])).toEqual(new Set(granted));
  });

  test('can do nothing else', async () => {
    const policy = policyOf(template, POLICIES[role]);
    const reads = ['GetItem', 'BatchGetItem', 'Query', 'Scan', 'DescribeTable'].map(
      (one) => `dynamodb:${one}`,
    );
    // Athena, and what it needs of the export alone: test/infra/ledger-export.test.ts.
    const isQuery = (action: string): boolean => role === 'finance' && /^(?:athena|glue|s3):/.test(action);
    expect(new Set(policy.actions.filter((action) => !isQuery(action)))).toEqual(
      new Set(['lambda:InvokeFunction', ...(role === 'finance' ? reads : [])]),
    );
    const foreign: Record<PersonRole, string[][]> = {
      finance: [
        ['saga', 'show', 'order-9'],
        ['saga', 'approve', 'order-9', 'verify', '--by', 'fin'],
        ['saga', 'retry', 'order-9', '--by', 'fin'],
        ['ledger', 'backfill', '--from', TODAY],
        ['session', 'list'],
        ['catalog', 'list'],
        ['rollback', '--to', 'm1', '--yes', ...NO_SESSION],
        ['revert', 'm1', '--yes', ...NO_SESSION],
      ],
      reviewer: [
        ['saga', 'retry', 'order-9', '--by', 'rev'],
        ['saga', 'park', 'order-9', '--summary', 'later'],
      ],
      operator: [['saga', 'approve', 'order-9', 'verify', '--by', 'op']],
    };
    for (const argv of foreign[role]) {
      const { denied, failure } = await runAs(role, argv);
      expect(denied.length, argv.join(' ')).toBeGreaterThan(0);
      expect(failure?.name, argv.join(' ')).toBe('ConfigurationError');
    }
  });
});
