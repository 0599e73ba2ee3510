/** Who is written into the ledger. */
import { userInfo } from 'node:os';
import { expect, test } from 'vitest';
import { userName } from '../../kit/machine-user.ts';
import { runCommand } from '../support/recording-app.ts';

const nameOf = async (env: Record<string, string>, user?: string) =>
  JSON.parse(
    (await runCommand(['whoami', '--json'], { env, ...(user === undefined ? {} : { user }) })).stdout,
  ).name as string;

test.skipIf(userName() === undefined)(
  'the user that the machine names acts where the environment names none',
  async () => {
    expect(userName()).toBe(userInfo().username);
    expect(await nameOf({}, 'ada')).toBe('ada');
    expect(await nameOf({ USER: ' ', LOGNAME: '' }, 'ada')).toBe('ada');
    expect(await nameOf({ LOGNAME: 'grace' }, 'ada')).toBe('grace');
    expect(await nameOf({ USER: 'bea', LOGNAME: 'grace' }, 'ada')).toBe('bea');
    expect(await nameOf({ WALKBACK_OPERATOR: 'rita', USER: 'bea' }, 'ada')).toBe('rita');
  },
);

test('where nobody is known the error says how to give a name', async () => {
  expect((await runCommand(['whoami'])).failure).toMatchObject({
    name: 'InvalidInput',
    exitCode: 2,
    hint: 'say who you are with --by, or export WALKBACK_OPERATOR=NAME',
  });
});

/** Every command that names who asks or acts, with what it is asked to do. */
const NAMING: [string, string[], 'requestedBy' | 'by'][] = [
  ['start-saga', ['saga', 'start', '--plan', '{"steps":[]}'], 'requestedBy'],
  ['call-tool', ['tool', 'call', 'pay', '--request', 'r'], 'requestedBy'],
  ['answer', ['saga', 'approve', 's', 'one'], 'by'],
  ['answer', ['saga', 'reject', 's', 'one'], 'by'],
  ['operate-saga', ['saga', 'cancel', 's'], 'by'],
  ['operate-saga', ['saga', 'resume', 's'], 'by'],
  ['operate-saga', ['saga', 'resolve', 's', 'one', '--evidence', 'x'], 'by'],
  ['operate-saga', ['saga', 'skip', 's', 'one', '--reason', 'x'], 'by'],
  ['operate-saga', ['saga', 'retry', 's'], 'by'],
  ['operate-saga', ['saga', 'undo', 's', '--yes'], 'by'],
  ['operate-saga', ['locks', 'break', 's', 'r', '--reason', 'x'], 'by'],
  ['rewind', ['rewind', '--saga', 's', '--steps', '1', '--dry-run'], 'by'],
];

test.each(NAMING)('who is signed in is who asks or acts: walkback-%s %j', async (name, argv, member) => {
  const asked = async (scene: { person?: string }, by: string[] = []) => {
    const awaiting = { step: 'one', tool: 'pay', version: '1.0.0', until: 'then', arguments: {} };
    const { calls, failure } = await runCommand([...argv, ...by], {
      env: { USER: 'ada' },
      answers: { 'walkback-describe-saga': { sagaId: 's', awaiting } },
      ...scene,
    });
    return { inputs: calls.filter((one) => one.name === `walkback-${name}`), failure };
  };
  const named = (who: string) => [{ input: { [member]: who } }];
  expect((await asked({})).inputs.slice(0, 1)).toMatchObject(named('ada'));
  expect((await asked({}, ['--by', 'bea'])).inputs.slice(0, 1)).toMatchObject(named('bea'));
  const rita = { person: 'rita@example.com' };
  expect((await asked(rita)).inputs.slice(0, 1)).toMatchObject(named('rita@example.com'));
  expect((await asked(rita, ['--by', 'Rita@Example.com'])).inputs.slice(0, 1)).toMatchObject(
    named('rita@example.com'),
  );
  const other = await asked(rita, ['--by', 'bea']);
  expect(other.inputs).toEqual([]);
  expect(other.failure).toMatchObject({
    name: 'InvalidInput',
    message: '--by names bea, but rita@example.com is signed in.',
    hint: 'leave out --by, or walkback logout first',
  });
});
