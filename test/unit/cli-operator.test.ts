/** Who is written into the ledger when nobody is signed in. */
import { userInfo } from 'node:os';
import { expect, test } from 'vitest';
import { userName } from '../../kit/machine-user.ts';
import { runCommand } from '../support/recording-app.ts';

const nameOf = async (env: Record<string, string>, user?: string) =>
  JSON.parse(
    (await runCommand(['whoami', '--json'], { env, ...(user === undefined ? {} : { user }) })).stdout,
  ).name as string;

test('the user that the machine names acts where the environment names none', async () => {
  expect(userName()).toBe(userInfo().username);
  expect(await nameOf({}, 'ada')).toBe('ada');
  expect(await nameOf({ USER: ' ', LOGNAME: '' }, 'ada')).toBe('ada');
  expect(await nameOf({ LOGNAME: 'grace' }, 'ada')).toBe('grace');
  expect(await nameOf({ USER: 'bea', LOGNAME: 'grace' }, 'ada')).toBe('bea');
  expect(await nameOf({ WALKBACK_OPERATOR: 'rita', USER: 'bea' }, 'ada')).toBe('rita');
});

test('where nobody is known the error says how to give a name', async () => {
  expect((await runCommand(['whoami'])).failure).toMatchObject({
    name: 'InvalidInput',
    exitCode: 2,
    hint: 'say who you are with --by, or export WALKBACK_OPERATOR=NAME',
  });
});
