/** Reviewers and operators roll back and take back in the deployed console and over the API; who it was stays on record. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import type { TimelineAnswer } from '../../contract/checkpoint-answers.ts';
import type { RollbackAnswer } from '../../contract/rollback-answers.ts';
import { type BrowserPerson, hiddenIn, locationOf, signInWithBrowser } from '../support/browser-person.ts';
import { startTestCloud, type TestCloud } from '../support/cloud.ts';
import { inTurn } from '../support/sampled-test.ts';
import { issuerIn, tokenFrom } from '../support/sign-in.ts';
import { openWorld, type World } from '../support/world.ts';

const test = inTurn('people-rollback');

let cloud: TestCloud;
let world: World;
const RITA = { iss: expect.any(String), sub: 'rita@example.com', email: 'rita@example.com', dev: true };

beforeAll(async () => {
  cloud = await startTestCloud();
  world = await openWorld(cloud, { paths: ['api', 'web'] });
});
afterAll(() => cloud.close());

const refused = (name: string) => expect.objectContaining({ errorType: name });
const filesNow = () => ['api', 'web'].map((path) => readFileSync(join(world.root, path, 'a.txt'), 'utf8'));
const write = (text: string) => {
  for (const path of ['api', 'web']) writeFileSync(join(world.root, path, 'a.txt'), text);
};
const tokenOf = (name: string, roles: string[]) => tokenFrom(issuerIn(cloud), name, roles);

/** Sends a form, and opens the page that it leads to. */
const post = async (person: BrowserPerson, action: string, fields: Record<string, string>) => {
  const at = cloud.endpoints.api;
  const sent = await person.post(at + action, fields);
  return sent.status === 303 ? person.get(at + locationOf(sent)) : sent;
};

/** The form of a page that acts, not the one that plans. */
const postedForm = (page: string, action: string): string =>
  new RegExp(`<form method="post" action="${action}"[^>]*>(.*?)</form>`, 's').exec(page)?.[1] ?? '';

/** What a form of a page sends, from the page that has it. */
const sendForm = async (person: BrowserPerson, page: string, action: string, more: object = {}) => {
  const at = cloud.endpoints.api;
  const { text } = await person.get(at + page);
  const form = postedForm(text, action);
  return post(person, action, { ...hiddenIn(form), ...more });
};

test('a reviewer rolls all repositories back in the deployed console, and undoes it', async () => {
  const { person } = await signInWithBrowser(cloud, { roles: 'reviewer' });
  write('kept\n');
  await world.checkpoint('kept');
  write('later\n');
  const session = await person.get(`${cloud.endpoints.api}/sessions/s1?message=kept`);
  expect([session.status, session.text]).toEqual([200, expect.stringContaining('Go back to here')]);
  // Whatever the form says of who asks is not read.
  const at = cloud.endpoints.api;
  const plan = (await person.get(`${at}/sessions/s1/plan?message=kept`)).text;
  const fields = { ...hiddenIn(plan.slice(plan.indexOf('action="/sessions/s1/rollback"'))), by: 'boss' };
  const done = await post(person, '/sessions/s1/rollback', fields);
  expect([done.status, done.text]).toEqual([200, expect.stringContaining('Rolled back')]);
  expect(done.text).toContain('rita@example.com');
  expect(filesNow()).toEqual(['kept\n', 'kept\n']);
  const [, undo = ''] = /href="(\/sessions\/s1\/plan\?checkpoint=[^"]+)"/.exec(done.text) ?? [];
  expect((await sendForm(person, undo, '/sessions/s1/rollback')).text).toContain('Rolled back');
  expect(filesNow()).toEqual(['later\n', 'later\n']);
  // The first form again, from another tab: it is done, and undone.
  const again = await post(person, '/sessions/s1/rollback', { ...fields, message: '' });
  expect([again.status, again.text]).toEqual([200, expect.stringContaining('moved again since then')]);
  expect(done.text).not.toContain('moved again since then');
  expect(filesNow()).toEqual(['later\n', 'later\n']);
  const timeline = (await cloud.invoke('timeline', { sessionId: 's1' })) as unknown as TimelineAnswer;
  const asked = timeline.checkpoints.filter(({ reason }) => reason === 'rollback').map(({ by }) => by);
  expect(asked).toEqual([
    { name: 'rita@example.com', person: expect.objectContaining(RITA) },
    { name: 'rita@example.com', person: expect.objectContaining(RITA) },
  ]);
});

test('an operator may do it too', async () => {
  const { person } = await signInWithBrowser(cloud, { roles: 'operator', name: 'omar@example.com' });
  for (const path of ['/sessions/s1?message=kept', '/sessions/s1/plan?message=kept', '/catalog']) {
    expect((await person.get(cloud.endpoints.api + path)).status, path).toBe(200);
  }
});

test('one message is taken back by a person, who is on record', async () => {
  write('one\n');
  await world.checkpoint('before-revert');
  writeFileSync(join(world.root, 'api', 'mine.txt'), 'mine\n');
  await world.checkpoint('to-revert');
  const { person } = await signInWithBrowser(cloud, { roles: 'reviewer' });
  const done = await sendForm(
    person,
    '/sessions/s1/plan?scope=message&message=to-revert',
    '/sessions/s1/revert',
  );
  expect(done.text).toContain('Taken back');
  expect(done.text).toContain('rita@example.com');
});

test('of two tabs that confirm in one moment, one is done, and the other shows what is so now', async () => {
  const acts = [
    ['/sessions/s1/plan?message=start-of-two', '/sessions/s1/rollback', 'Rolled back'],
    ['/sessions/s1/plan?scope=message&message=first-of-two', '/sessions/s1/revert', 'Taken back'],
    ['/sessions/s1/plan?scope=all&message=start-of-two', '/sessions/s1/rewind', 'Rewound'],
  ] as const;
  write('start\n');
  await world.checkpoint('start-of-two');
  writeFileSync(join(world.root, 'api', 'first.txt'), 'first\n');
  await world.checkpoint('first-of-two');
  writeFileSync(join(world.root, 'web', 'second.txt'), 'second\n');
  await world.checkpoint('second-of-two');
  const [{ person: rita }, { person: omar }] = await Promise.all([
    signInWithBrowser(cloud, { roles: 'reviewer' }),
    signInWithBrowser(cloud, { roles: 'operator', name: 'omar@example.com' }),
  ]);
  const epochNow = async () =>
    ((await cloud.invoke('timeline', { sessionId: 's1' })) as unknown as TimelineAnswer).session.epoch;
  for (const [at, one] of acts.entries()) {
    for (const other of acts.slice(at, at + 2)) {
      const opened = [rita, omar].map(async (person, at) => {
        const [page, action, done] = at === 0 ? one : other;
        const { text } = await person.get(cloud.endpoints.api + page);
        const form = postedForm(text, action);
        return { done, send: () => post(person, action, hiddenIn(form)) };
      });
      const tabs = await Promise.all(opened);
      const before = await epochNow();
      const pages = await Promise.all(tabs.map(({ send }) => send()));
      const ended = pages.map(({ text }, at) => text.includes(tabs[at]?.done ?? ''));
      const where = `${one[1]} ${other[1]}: ${pages.map(({ text }) => />([^<]*)<\/h1>/.exec(text)?.[1]).join()}`;
      expect(ended.filter(Boolean), where).toHaveLength(1);
      const refusedPage = pages[ended.indexOf(false)];
      // A plan that is made while the other one writes is refused for that, and the page says so. After a rollback,
      // the message that was to be taken back alone is not there any more.
      expect(refusedPage?.text, where).toMatch(
        /Nothing was done\. This is the plan now|Somebody else is at work|SandboxChanged|RollbackInProgress|is not on the way to where the session stands/,
      );
      expect((await epochNow()) - before, where).toBeLessThanOrEqual(3);
      await cloud.invoke('rollback', {
        sessionId: 's1',
        messageId: 'second-of-two',
        requestId: `to-end-${before}`,
      });
    }
  }
});

test('the form of a rewind that was sent again joins it, and does nothing twice', async () => {
  write('before\n');
  await world.checkpoint('before-rewind');
  write('after\n');
  await world.checkpoint('rewound');
  const { person } = await signInWithBrowser(cloud, { roles: 'reviewer' });
  const page = '/sessions/s1/rewind';
  const at = cloud.endpoints.api;
  const { text } = await person.get(`${at}/sessions/s1/plan?scope=all&message=before-rewind`);
  const form = postedForm(text, page);
  const send = () => person.post(at + page, { ...hiddenIn(form), guidance: 'Leave it.' });
  expect((await send()).text).toContain('Rewound');
  const { checkpoints } = (await cloud.invoke('timeline', { sessionId: 's1' })) as unknown as TimelineAnswer;
  // Another instance, as after a lost answer, knows nothing of the first one.
  cloud.reconfigure({});
  expect((await send()).text).toContain('Rewound');
  expect(filesNow()).toEqual(['before\n', 'before\n']);
  const after = (await cloud.invoke('timeline', { sessionId: 's1' })) as unknown as TimelineAnswer;
  expect(after.checkpoints.length).toBe(checkpoints.length);
});

test('finance is refused by the function, whatever page or route it comes by', async () => {
  const { person } = await signInWithBrowser(cloud, { roles: 'finance', name: 'fin@example.com' });
  const plan = await person.get(`${cloud.endpoints.api}/sessions/s1/plan?message=kept`);
  expect([plan.status, plan.text]).toEqual([403, expect.stringContaining('RoleMissing')]);
  const proof = await tokenOf('fin@example.com', ['finance']);
  const before = filesNow();
  for (const [called, input] of [
    ['rollback', { messageId: 'kept' }],
    ['revert', { messageId: 'to-revert' }],
  ] as const) {
    const request = { sessionId: 's1', requestId: `fin-${called}`, ...input, proof };
    await expect(cloud.invoke(called, request)).rejects.toEqual(refused('RoleMissing'));
  }
  expect(filesNow()).toEqual(before);
});

test('a claim is marked as one, a backend names nobody, and where proofs are required a claim is refused', async () => {
  const roll = async (requestId: string, more: object) => {
    const input = { sessionId: 's1', messageId: 'kept', requestId, ...more };
    return (await cloud.invoke('rollback', input)) as unknown as RollbackAnswer;
  };
  expect((await roll('claimed', { by: 'ada' })).by).toEqual({ name: 'ada' });
  // Somebody else may finish or read the same request; it stays with who began it.
  const proof = await tokenOf('rita@example.com', ['reviewer']);
  expect((await roll('claimed', { proof })).by).toEqual({ name: 'ada' });
  const plan = { dryRun: true };
  cloud.reconfigure({ WALKBACK_REQUIRE_VERIFIED_APPROVER: 'true' });
  try {
    await expect(roll('strict', { ...plan, by: 'ada' })).rejects.toEqual(refused('ProofRequired'));
    expect(await roll('strict', { ...plan, proof })).toMatchObject({ status: 'PLANNED' });
    expect((await roll('strict', plan)).by).toBeUndefined();
  } finally {
    cloud.reconfigure({ WALKBACK_REQUIRE_VERIFIED_APPROVER: 'false' });
  }
});
