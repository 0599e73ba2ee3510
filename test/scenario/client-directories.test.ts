/** Where the files of a session, its forks and its copies are on this machine, for a program that works in them. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { errors, type ForkOptions } from '../../client/index.ts';
import { openClientWorld } from '../support/client-world.ts';
import { inTurn } from '../support/sampled-test.ts';
import { shared } from '../support/shared.ts';

const test = inTurn('client-directories');

const world = shared(openClientWorld);

test('a program finds the files of a fork, works there, and merges what it did', async () => {
  const { sessions } = world().walkback;
  const session = await sessions.start({ root: world().root });
  const { session: own } = await session.timeline({ limit: 1 });
  expect(await sessions.directoryOf(own)).toBe(world().root);

  const fork = await session.fork();
  const directory = (await sessions.directoryOf(fork)) ?? '';
  expect(directory).not.toBe(world().root);
  writeFileSync(join(directory, 'api/of-the-fork.txt'), 'made in the fork\n');
  expect(existsSync(join(world().root, 'api/of-the-fork.txt'))).toBe(false);
  await fork.session.checkpoint({ messageId: 'm-1' });
  expect((await session.merge(fork)).status).toBe('APPLIED');
  expect(world().read('api/of-the-fork.txt')).toBe('made in the fork\n');

  const copy = await session.rehydrate();
  const place = (await sessions.directoryOf(copy)) ?? '';
  expect(readFileSync(join(place, 'api/of-the-fork.txt'), 'utf8')).toBe('made in the fork\n');
  await sessions.deleteCopy(copy.sandboxId);
  await expect(sessions.directoryOf(copy)).rejects.toBeInstanceOf(errors.SandboxNotFound);
  await fork.session.end({ discard: true });
  await session.end();
});

test('a fork begins where `to` says, as other calls have it, or where its own names say', async () => {
  const session = await world().walkback.sessions.start({ root: world().root });
  writeFileSync(join(world().root, 'api/early.txt'), 'early\n');
  const { checkpointId } = await session.checkpoint({ messageId: 'early' });
  writeFileSync(join(world().root, 'api/early.txt'), 'late\n');
  await session.checkpoint({ messageId: 'late' });
  const begun = async (options: ForkOptions) => {
    const fork = await session.fork(options);
    const directory = (await world().walkback.sessions.directoryOf(fork)) ?? '';
    const text = readFileSync(join(directory, 'api/early.txt'), 'utf8');
    await fork.session.end({ discard: true });
    return text;
  };
  const places = [{ to: 'early' }, { to: { checkpointId } }, { to: checkpointId }, { messageId: 'early' }];
  for (const place of places) expect(await begun(place)).toBe('early\n');
  expect(await begun({})).toBe('late\n');
  for (const both of [
    { to: 'late', messageId: 'early' },
    { to: 'late', checkpointId },
  ]) {
    await expect(session.fork(both)).rejects.toBeInstanceOf(errors.InvalidInput);
  }
  await session.end();
});
