/** How calls stand, in a real DynamoDB engine. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createKeptCalls } from '../../adapters/aws/kept-calls.ts';
import type { KeptCall } from '../../core/checkpoint/workspace/join-call.ts';
import { useSessionsTable } from '../support/sessions-table.ts';

const table = useSessionsTable();

const running = (claim: string): KeptCall => ({ claim, hash: 'h', untilMs: 60_000, state: 'running' });

test('nobody takes the place of one that was heard of again since it was looked at', async () => {
  const calls = createKeptCalls({ tableName: table.tableName, client: table.dynamodb });
  expect(await calls.begin('beats', running('a'), undefined)).toBe(true);
  const silent = await calls.get('beats');
  await calls.move('beats', { ...running('a'), untilMs: 75_000 });
  expect(await calls.begin('beats', running('b'), silent)).toBe(false);
  const heard = await calls.get('beats');
  expect(heard).toMatchObject({ claim: 'a', untilMs: 75_000 });
  expect(await calls.begin('beats', running('b'), heard)).toBe(true);
});

test('one of several begins, only that one moves it, and an answer of any size comes back', async () => {
  const calls = createKeptCalls({ tableName: table.tableName, client: table.dynamodb });
  expect(await calls.get('k')).toBeUndefined();
  const begun = await Promise.all(
    ['a', 'b', 'c'].map((claim) => calls.begin('k', running(claim), undefined)),
  );
  expect(begun.filter(Boolean)).toHaveLength(1);
  const mine = await calls.get('k');
  expect(mine).toMatchObject({ hash: 'h', state: 'running' });
  if (mine === undefined) return;

  await calls.move('k', { ...running('nobody'), state: 'answered' }, 'of nobody');
  expect(await calls.get('k')).toMatchObject({ claim: mine.claim, state: 'running' });
  // What does not become smaller, and more than an item may have.
  const answer = { text: randomBytes(1_000_000).toString('base64'), letter: 'ü' };
  const ended: KeptCall = { ...mine, state: 'answered', untilMs: 70_000 };
  await calls.move('k', ended, answer);
  // A sign of life that comes late changes nothing.
  await calls.move('k', mine);
  expect(await calls.get('k')).toMatchObject({ state: 'answered', untilMs: 70_000 });
  expect(await calls.answerOf('k', ended)).toEqual(answer);

  // Who saw how it stood before is too late.
  expect(await calls.begin('k', running('d'), mine)).toBe(false);
  expect(await calls.begin('k', running('d'), ended)).toBe(true);
  expect(await calls.answerOf('k', ended)).toBeUndefined();
  const error = { name: 'IncompleteTarget', message: 'not complete' };
  await calls.move('k', { ...running('d'), state: 'refused', error });
  expect(await calls.get('k')).toMatchObject({ claim: 'd', state: 'refused', error });
});
