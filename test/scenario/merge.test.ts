/** Reverts, partial rollbacks and merges on the embedded cloud: real git in real sandboxes. */
import { afterAll, beforeAll, expect } from 'vitest';
import type { ChangesAnswer } from '../../contract/change-answers.ts';
import type { RollbackAnswer } from '../../contract/rollback-answers.ts';
import { startTestCloud, type TestCloud } from '../support/cloud.ts';
import { answered } from '../support/error-of.ts';
import { mergeStage } from '../support/merge-stage.ts';
import { sampledTest } from '../support/sampled-test.ts';
import { shell } from '../support/world.ts';

const test = sampledTest('merge', 12);

let cloud: TestCloud;
let stage: ReturnType<typeof mergeStage>;
beforeAll(async () => {
  cloud = await startTestCloud();
  stage = mergeStage(cloud);
});
afterAll(() => cloud.close());

test('a message is taken back, later ones stay; merge then revert restores what was there', async () => {
  const world = await stage.open();
  shell(world.root, 'seq 40 > api/lines; seq 40 > web/lines');
  await world.checkpoint('t1', 'msg-1');
  shell(world.root, 'sed -i 1s/.*/bad/ api/lines; echo bad > web/bad; chmod 644 web/private.txt');
  await world.checkpoint('t2', 'msg-2');
  shell(world.root, 'sed -i 40s/.*/good/ api/lines; echo good > web/good');
  await world.checkpoint('t3', 'msg-3');
  const revert = async (requestId: string, more: object) =>
    (await cloud.invoke('revert', {
      sessionId: world.sessionId,
      requestId,
      ...more,
    })) as unknown as RollbackAnswer;

  const plan = await revert('r1', { messageId: 'msg-2', dryRun: true });
  expect(plan).toMatchObject({ status: 'PLANNED', discardedMessageIds: [] });
  const reverted = await revert('r1', { messageId: 'msg-2' });
  expect(
    shell(
      world.root,
      'sed -n "1p;40p" api/lines; ls web | grep -E "bad|good" || true; stat -c %a web/private.txt',
    ),
  ).toBe('1\ngood\ngood\n600\n');
  expect(await revert('r1', { messageId: 'msg-2' })).toEqual(reverted);

  const before = world.fingerprint();
  const fork = await stage.forkOf(world, 'f2');
  shell(fork.root, 'echo f > api/f; sed -i 20s/.*/fork/ web/lines');
  await fork.checkpoint('f');
  const merged = await stage.merge(fork, world, 'm');
  expect(world.fingerprint()).not.toEqual(before);
  const { checkpoints } = (await cloud.invoke('changes', {
    sessionId: world.sessionId,
    checkpointId: merged.checkpointId,
  })) as unknown as ChangesAnswer;
  expect(checkpoints).toMatchObject([
    {
      reason: 'merge',
      repositories: [
        {
          path: 'api',
          change: 'changed',
          counts: { files: 1, added: 1, deleted: 0 },
          files: [{ path: 'f' }],
        },
        { path: 'web', change: 'changed', patch: expect.stringContaining('-20\n+fork') },
      ],
    },
  ]);
  await revert('r2', { checkpointIds: [merged.checkpointId] });
  expect(world.fingerprint()).toEqual(before);

  await expect(revert('r3', { messageId: 'msg-9' })).rejects.toMatchObject({ errorType: 'MessageNotFound' });
  await expect(revert('r1', { messageId: 'msg-1' })).rejects.toMatchObject({ errorType: 'RequestConflict' });
});

test('only the named files and repositories go back, and all else stays', async () => {
  const world = await stage.open();
  const first = await world.checkpoint('t1', 'msg-1');
  shell(
    world.root,
    'for r in api web; do (cd $r; echo x > a.txt; rm -r src; git commit -qam second; echo y > y); done',
  );
  const changed = world.fingerprint();
  const rollback = async (requestId: string, paths: string[], more = {}) =>
    (await cloud.invoke('rollback', {
      sessionId: world.sessionId,
      checkpointId: first.checkpointId,
      requestId,
      paths,
      ...more,
    })) as unknown as RollbackAnswer;
  expect((await rollback('p1', ['api/a.txt', 'api/src', 'web'], { dryRun: true })).status).toBe('PLANNED');
  expect(world.fingerprint()).toEqual(changed);
  const done = await rollback('p1', ['api/a.txt', 'api/src', 'web']);
  const of = (looks: readonly string[], repository: string) =>
    looks.filter((line) => line.includes(repository));
  const now = world.fingerprint();
  expect(of(now, 'web')).toEqual(of(first.looks, 'web'));
  expect(shell(`${world.root}/api`, 'cat a.txt y; git log -1 --format=%s; ls src')).toBe(
    'one\ny\nsecond\ndeep\n',
  );
  await world.rollback('undo', String(done.undoCheckpointId));
  expect(world.fingerprint()).toEqual(changed);
  await expect(rollback('p2', ['api/none'])).rejects.toMatchObject({ errorType: 'InvalidInput' });
  await expect(rollback('p3', ['elsewhere/x'])).rejects.toMatchObject({ errorType: 'InvalidInput' });
});

test('work with conflict markers is not merged, unless that is asked for', async () => {
  const world = await stage.open();
  shell(world.root, 'cp api/a.txt api/sample; printf "<<<<<<< a\n1\n=======\n2\n>>>>>>> b\n" > api/sample');
  await world.checkpoint('t1', 'msg-1');
  const fork = await stage.forkOf(world);
  // Titles of text files and a sample that was there before are no conflicts.
  shell(fork.root, 'printf "A title\n=======\n" > web/title.rst; echo more >> api/sample');
  await fork.checkpoint('fine');
  expect((await stage.merge(fork, world, 'fine')).status).toBe('APPLIED');

  shell(
    fork.root,
    `mkdir born; cd born; git init -q -b main; printf '<<<<<<< now\r\nmine\r\n=======\r\ntheirs\r\n>>>>>>> other\r\n' > 'left over'
     cd ../web; printf '<<<<<<< now\n1\n||||||| base\n0\n=======\n2\n>>>>>>> other\n' > name.txt; echo fine > fine`,
  );
  await fork.checkpoint('marked');
  const before = world.fingerprint();
  const plan = await stage.merge(fork, world, 'plan', { dryRun: true });
  expect(plan.conflicts).toMatchObject([
    { repository: 'born', path: 'left over', kind: 'markers' },
    { repository: 'web', path: 'name.txt', kind: 'markers' },
  ]);
  await expect(stage.merge(fork, world, 'no')).rejects.toMatchObject(
    answered('ChangesetConflict', /conflict markers: born\/left over.*web\/name\.txt.*allowMarkers/),
  );
  expect(world.fingerprint()).toEqual(before);
  expect((await stage.merge(fork, world, 'some', { paths: ['web/fine'] })).status).toBe('APPLIED');
  expect((await stage.merge(fork, world, 'yes', { allowMarkers: true })).status).toBe('APPLIED');
  expect(shell(world.root, 'head -1 web/name.txt "born/left over"')).toContain('<<<<<<< now');
});

test('a merge says what its source holds that no checkpoint holds', async () => {
  const world = await stage.open();
  const fork = await stage.forkOf(world);
  shell(fork.root, 'echo only > web/only');
  const nothing = await stage.merge(fork, world, 'm0');
  expect(nothing).toMatchObject({
    status: 'NOTHING',
    warnings: [expect.stringMatching(new RegExp(`${fork.sessionId}.*no checkpoint holds.*web`))],
  });
  await fork.checkpoint('f1');
  shell(fork.root, 'echo later > api/later');
  const plan = await stage.merge(fork, world, 'm1', { dryRun: true });
  expect(plan).toMatchObject({
    status: 'PLANNED',
    warnings: [expect.stringMatching(/no checkpoint holds.*api/)],
  });
  // Nobody has to ask for a plan to be told.
  expect(await stage.merge(fork, world, 'm1')).toMatchObject({
    status: 'APPLIED',
    warnings: [expect.stringMatching(new RegExp(`${fork.sessionId}.*no checkpoint holds.*api`))],
  });
  expect(shell(world.root, 'test ! -e api/later && cat web/only')).toBe('only\n');
  await fork.checkpoint('f2');
  expect(await stage.merge(fork, world, 'm2', { dryRun: true })).toMatchObject({ warnings: [] });
  expect(await stage.merge(fork, world, 'm2')).toMatchObject({ status: 'APPLIED', warnings: [] });
});

test('a repository that the fork deleted goes, one that a message made is taken back, and the plans say so', async () => {
  const world = await stage.open();
  await world.checkpoint('t1', 'msg-1');
  shell(
    world.root,
    'mkdir loose born; echo l > loose/l; echo b > born/b; cd born; git init -q -b main; echo c > c',
  );
  await world.checkpoint('t2', 'msg-2');
  const fork = await stage.forkOf(world, 'f3');
  shell(fork.root, 'rm -rf web; echo f > api/f');
  await fork.checkpoint('f');

  const planned = await stage.merge(fork, world, 'm', { dryRun: true });
  const merged = await stage.merge(fork, world, 'm');
  const told = ({ repositories }: Pick<RollbackAnswer, 'repositories'>) =>
    repositories.map(({ path, action, written, deleted }) => ({ path, action, written, deleted }));
  expect(told(planned)).toEqual(told(merged));
  expect(shell(world.root, 'ls; ls loose born web')).toBe(
    'api\nborn\nloose\nweb\nborn:\nb\nc\n\nloose:\nl\n\nweb:\ncache.ignored\n',
  );

  const revert = { sessionId: world.sessionId, requestId: 'r', messageId: 'msg-2' };
  const plan = (await cloud.invoke('revert', { ...revert, dryRun: true })) as unknown as RollbackAnswer;
  const reverted = (await cloud.invoke('revert', revert)) as unknown as RollbackAnswer;
  expect(told(plan)).toEqual(told(reverted));
  // No capture holds what lies in no repository, so it stays.
  expect(shell(world.root, 'ls; ls loose')).toBe('api\nloose\nweb\nl\n');
  await world.rollback('undo', String(reverted.undoCheckpointId));
  expect(shell(world.root, 'ls born')).toBe('b\nc\n');
});

test('a directory that the fork made a repository comes as one, and files that no checkpoint holds are never lost', async () => {
  const world = await stage.open();
  const fork = await stage.forkOf(world, 'f5');
  shell(fork.root, 'cd api/src; git init -q -b main; echo y > y; git add -A; git commit -qm nested');
  await fork.checkpoint('f');
  shell(world.root, 'echo o > api/o; echo i > api/src/i.ignored');
  const before = world.fingerprint();
  await expect(stage.merge(fork, world, 'm')).rejects.toMatchObject(
    answered('ChangesetConflict', 'no checkpoint of this side holds: i.ignored'),
  );
  expect(world.fingerprint()).toEqual(before);
  shell(world.root, 'rm api/src/i.ignored');
  const plan = await stage.merge(fork, world, 'm2', { dryRun: true });
  expect([plan.status, plan.conflicts ?? []]).toEqual(['PLANNED', []]);
  const merged = await stage.merge(fork, world, 'm2');
  expect(shell(world.root, 'cat api/o; cd api/src; cat y; git log --format=%s; ls deep')).toBe(
    'o\ny\nnested\nwith space.txt\n',
  );
  await world.rollback('undo', String(merged.undoCheckpointId));
  expect(world.fingerprint()).toEqual(before);
});

test('a directory comes back by its name as what it was, also where it is a repository now', async () => {
  const world = await stage.open();
  const first = await world.checkpoint('t1', 'msg-1');
  shell(
    world.root,
    'cd api/src; git init -q -b main; echo y > y; git add -A; git commit -qm nested; echo two > "deep/with space.txt"; echo x > x',
  );
  const back = (requestId: string, paths: string[], more = {}) =>
    cloud.invoke('rollback', {
      sessionId: world.sessionId,
      checkpointId: first.checkpointId,
      requestId,
      paths,
      ...more,
    });
  await back('p1', ['api/src/']);
  expect(world.fingerprint()).toEqual(first.looks);
  await back('p2', ['web/src', 'web/src/deep/with space.txt'], { dryRun: true });
});

test('with expectUnchanged, work comes into a target that nobody worked in since, and into no other', async () => {
  const world = await stage.open();
  const fork = await stage.forkOf(world, 'f4');
  shell(fork.root, 'echo f > api/f; git -C web commit -q --allow-empty -m fork');
  await fork.checkpoint('f');
  shell(world.root, 'chmod 640 web/a.txt');
  const before = world.fingerprint();
  for (const dryRun of [true, false]) {
    await expect(stage.merge(fork, world, 'm', { expectUnchanged: true, dryRun })).rejects.toMatchObject(
      answered('TargetMoved', 'was worked in since: web.'),
    );
  }
  expect(world.fingerprint()).toEqual(before);

  shell(world.root, 'chmod 644 web/a.txt');
  const merged = await stage.merge(fork, world, 'm2', { expectUnchanged: true });
  expect(merged.status).toBe('APPLIED');
  expect(world.fingerprint()).toEqual(fork.looks());
});

test('a fork that is merged again and again brings what it did since, also where the sandbox does not have what came before', async () => {
  const world = await stage.open();
  const fork = await stage.forkOf(world, 'f6');
  const work = async (n: number): Promise<void> => {
    shell(
      fork.root,
      `seq ${n * 100} > api/lines; mkdir -p web/made-${n}; seq ${n} > web/made-${n}/f; chmod 600 web/made-${n}/f`,
    );
    await fork.checkpoint(`w${n}`);
    shell(fork.root, `sed -i s/7/${n}/ api/lines; git -C web commit -q --allow-empty -m ${n}`);
    await fork.checkpoint(`x${n}`);
  };
  const merge = async (n: number): Promise<void> => {
    expect((await stage.merge(fork, world, `m${n}`)).status).toBe('APPLIED');
    expect(world.fingerprint()).toEqual(fork.looks());
  };
  await work(1);
  await merge(1);
  await work(2);
  await merge(2);
  // Without its shadows, the sandbox has nothing that an earlier merge brought.
  await work(3);
  shell(world.root, 'rm -rf .agent-shadow */.agent-shadow');
  await merge(3);
  await work(4);
  const { checkpointId } = await world.checkpoint('before-resume');
  const resumed = await cloud.invoke('rehydrate', {
    sessionId: world.sessionId,
    mode: 'resume',
    requestId: 'r',
    checkpointId,
  });
  world.sandboxId = String(resumed['sandboxId']);
  await merge(4);
  // A part of it: some objects of the last merge are gone, the others are there.
  await work(5);
  shell(world.root, 'find api/.agent-shadow/session-*/objects/[0-9a-d]* -type f -delete');
  await merge(5);
});

test('what both sides have of a third session is common: what one took back stays taken back', async () => {
  const world = await stage.open();
  shell(world.root, 'seq 40 > api/lines');
  await world.checkpoint('t1', 'msg-1');
  const x = await stage.forkOf(world, 'f7');
  const y = await stage.forkOf(world, 'f8');
  shell(
    x.root,
    'echo x > api/X; echo x > api/Z; sed -i 1s/.*/x/ api/lines; mkdir made; cd made; git init -q -b main; echo n > n',
  );
  const common = await x.checkpoint('x1');
  await stage.merge(x, y, 'm1');
  await stage.merge(x, world, 'm2');
  shell(world.root, 'rm api/X; echo mine >> api/Z; sed -i 1s/.*/1/ api/lines');
  await world.checkpoint('t2', 'msg-2');
  shell(y.root, 'echo y > api/Y; sed -i 40s/.*/y/ api/lines; echo y > made/y');
  await y.checkpoint('y1');
  const merged = await stage.merge(y, world, 'm3');
  expect(merged).toMatchObject({ status: 'APPLIED', base: { sessionId: x.sessionId, checkpointId: common } });
  expect(
    shell(
      world.root,
      'ls api/X 2>/dev/null || echo gone; cat api/Y api/Z made/n made/y; sed -n "1p;40p" api/lines',
    ),
  ).toBe('gone\ny\nx\nmine\nn\ny\n1\ny\n');
  // The repository that the third made is one, whichever way its work goes.
  shell(x.root, 'echo later >> made/n');
  await x.checkpoint('x2');
  expect((await stage.merge(x, world, 'm4')).status).toBe('APPLIED');
  expect(shell(world.root, 'cat made/n made/y')).toBe('n\nlater\ny\n');
  await world.rollback('undo', String(merged.undoCheckpointId));
  expect(shell(world.root, 'ls api/Y 2>/dev/null || echo gone; cat made/n')).toBe('gone\nn\n');
});

test('where several checkpoints are common and equally near, a merge is refused, and what it advises leads to one', async () => {
  const world = await stage.open();
  const x = await stage.forkOf(world, 'f9');
  const y = await stage.forkOf(world, 'f10');
  shell(x.root, 'echo x > api/X');
  await x.checkpoint('x1');
  shell(y.root, 'echo y > web/Y; mkdir made; cd made; git init -q -b main; echo n > n');
  await y.checkpoint('y1');
  await stage.merge(x, world, 'm1');
  await stage.merge(y, world, 'm2');
  shell(world.root, 'rm web/Y; echo mine >> made/n');
  await world.checkpoint('t1', 'msg-1');
  shell(y.root, 'echo more > made/more');
  await y.checkpoint('y2');
  const came = await stage.merge(y, x, 'm3');
  shell(x.root, 'echo again >> api/X');
  await x.checkpoint('x2');
  const before = world.fingerprint();
  await expect(stage.merge(x, world, 'm4')).rejects.toMatchObject(
    answered('InvalidInput', `walkback revert ${came.checkpointId} --session ${x.sessionId}`),
  );
  expect(world.fingerprint()).toEqual(before);
  await cloud.invoke('revert', {
    sessionId: x.sessionId,
    requestId: 'r',
    checkpointIds: [came.checkpointId],
  });
  expect((await stage.merge(x, world, 'm5')).status).toBe('APPLIED');
  expect((await stage.merge(y, world, 'm6')).status).toBe('APPLIED');
  expect(shell(world.root, 'cat api/X made/n made/more; ls web/Y 2>/dev/null || echo gone')).toBe(
    'x\nagain\nn\nmine\nmore\ngone\n',
  );
});
