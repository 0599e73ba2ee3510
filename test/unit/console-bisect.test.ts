/** The pages that search for what broke it: the form, what it asks, and what was found. */
import { expect, test } from 'vitest';
import { WalkbackError } from '../../core/shared/errors.ts';
import { bisectAnswer } from '../support/bisect-answer.ts';
import { made, NASTY, NO_SAGA, session, tokenIn } from '../support/console-in-process.ts';

const MESSAGE = {
  messageId: 'msg-3',
  order: 3,
  title: `Faster ${NASTY}`,
  discarded: false,
  checkpointId: 'cp-00000007-0badcafe',
};
const CHANGES = {
  sessionId: 's1',
  checkpoints: [
    {
      checkpointId: 'cp-00000007-0badcafe',
      seq: 7,
      parentCheckpointId: 'cp-00000006-0badcafe',
      messageId: 'msg-3',
      reason: 'before-tool',
      createdAt: '2026-01-02T10:00:00Z',
      repositories: [
        {
          path: 'api',
          change: 'changed',
          counts: { files: 1, added: 1, deleted: 1 },
          files: [{ path: 'sum', change: 'modified', added: 1, deleted: 1, binary: false }],
          patch:
            'diff --git a/api/sum b/api/sum\n--- a/api/sum\n+++ b/api/sum\n@@ -1 +1 @@\n-a + b\n+a - <b>\n',
          truncated: false,
        },
      ],
      warnings: [],
    },
  ],
};

const ANSWERS = {
  ...NO_SAGA,
  timeline: () => ({ session: session('s1'), checkpoints: [], messages: [MESSAGE] }),
  changes: () => CHANGES,
  'bisect-session': () => bisectAnswer(),
};

const AT = '/sessions/s1/bisect';

const open = async (answers: Parameters<typeof made>[0] = {}, more: Parameters<typeof made>[1] = {}) => {
  const { fetchPage, enter, calls } = made({ ...ANSWERS, ...answers }, { patienceMs: 60_000, ...more });
  const { cookie } = await enter();
  const form = await (await fetchPage(`${AT}?bad=msg-3`, { headers: { cookie } })).text();
  const send = async (fields: Record<string, string>) => {
    const sent = { form_token: tokenIn(form), request: 'r1', command: 'npm test', ...fields };
    const page = await fetchPage(AT, { headers: { cookie }, form: sent });
    return { status: page.status, text: await page.text() };
  };
  const asked = () => calls.filter(({ name }) => name === 'bisect-session').map(({ input }) => input);
  return { form, send, asked, fetchPage, cookie };
};

test('the form names the points of the session, and takes the one that was chosen', async () => {
  const { form } = await open();
  expect(form).toContain('<textarea id="command" name="command" required');
  expect(form).toMatch(/<input id="bad" name="bad" value="msg-3" list="points"/);
  expect(form).toContain('<option value="msg-3">');
  expect(form).not.toContain('value="now"');
  expect(form).not.toContain('<img');
});

test('what was found: message, call, diff, both outputs, and what was tried, all of it as text', async () => {
  const { send, asked } = await open();
  const { status, text } = await send({ bad: 'msg-3', repository: 'api', timeout: '9' });
  expect(status).toBe(200);
  expect(asked()).toEqual([
    {
      sessionId: 's1',
      command: 'npm test',
      requestId: 'r1',
      bad: 'msg-3',
      repository: 'api',
      timeoutSeconds: 9,
    },
  ]);
  expect(text).toContain('cp-7 broke it (4 checkpoints of 12 tried).');
  expect(text).toMatch(/<a href="\/sessions\/s1\?message=msg-3">.*&lt;b&gt;faster/);
  expect(text).toContain('sed -i &lt;script&gt; api/sum');
  expect(text).toContain('<ins>a - &lt;b&gt;</ins>');
  expect(text).toMatch(/Last good: .*cp-6.*exit code 0/);
  expect(text).toContain('&lt;img src=x&gt; -1');
  expect(text).toContain('no copy of it can be made (BundleMissing)');
  expect(text).not.toMatch(/<img|<script>|\p{Cc}\[/u);
});

test('what a merge brought names the fork, and goes back in it', async () => {
  const [suspect] = bisectAnswer().suspects;
  if (suspect === undefined) throw new Error('no suspect');
  const { send } = await open({
    'bisect-session': () =>
      bisectAnswer({
        suspects: [{ ...suspect, sessionId: 'fork-1' }],
        through: [{ ...suspect, reason: 'merge', messageId: null }],
        note: 'What was merged could not be judged by itself.',
      }),
  });
  const { text } = await send({});
  expect(text).toContain('<a href="/sessions/fork-1?message=msg-3">');
  expect(text).toContain('merged the work of another session');
  expect(text).toContain('could not be judged by itself');
  expect(text).toMatch(/<a class="meta" href="\/sessions\/fork-1\/plan\?checkpoint=cp-00000007-0badcafe"/);
});

test('only candidates are listed without a diff', async () => {
  const { send } = await open({
    'bisect-session': () => bisectAnswer({ outcome: 'candidates', suspectsNotListed: 2 }),
    changes: () => {
      throw new Error('nobody asks');
    },
  });
  const { text } = await send({});
  expect(text).toContain('One of 3 checkpoints broke it');
  expect(text).toContain('and 2 more');
  expect(text).not.toContain('What it changed');
});

test('a good point that is bad is said with what the command wrote there', async () => {
  const tried = [{ ...bisectAnswer().bad, checkpointId: 'cp-00000001-0badcafe' }];
  const { send } = await open({
    'bisect-session': () => {
      throw new WalkbackError('GoodPointFails', 'good: the command fails at cp-00000001-0badcafe already.');
    },
    progress: () => ({ progress: null, search: { tried, trying: 0, left: 3, at: '2026-01-02T10:00:00Z' } }),
  });
  const { text } = await send({});
  expect(text).toContain('GoodPointFails');
  expect(text).toContain('&lt;img src=x&gt; -1');
});

test('that the output of a wrong point could not be read is said', async () => {
  const { send } = await open({
    'bisect-session': () => {
      throw new WalkbackError('GoodPointFails', 'good: the command fails already.');
    },
    progress: () => {
      throw new WalkbackError('SandboxUnavailable', 'The sandbox does not answer.');
    },
  });
  expect((await send({})).text).toContain('What the command wrote there could not be read');
});

test('a search that needs more than one call goes on by itself, with the same request', async () => {
  let count = 0;
  const { send, asked } = await open({
    'bisect-session': () => {
      count += 1;
      if (count < 3) throw new WalkbackError('StillRunning', 'The search goes on.');
      return bisectAnswer();
    },
  });
  expect((await send({})).text).toContain('cp-7 broke it');
  expect(asked()).toHaveLength(3);
  expect(new Set(asked().map((input) => JSON.stringify(input))).size).toBe(1);
});

test('where the next look is served by another process, the form is there to look again', async () => {
  const { send } = await open(
    {
      'bisect-session': () => {
        throw new WalkbackError('StillRunning', 'The search goes on.');
      },
    },
    { isOneProcess: false },
  );
  const { status, text } = await send({});
  expect(status).toBe(202);
  expect(text).toContain('<input type="hidden" name="request" value="r1" />');
  expect(text).toContain('Look whether it is done');
});

test('the twin of the page is the answer, with the diff', async () => {
  const { fetchPage, cookie, form } = await open();
  const sent = { form_token: tokenIn(form), request: 'r1', command: 'npm test' };
  const twin = await fetchPage(`${AT}?format=json`, { headers: { cookie }, form: sent });
  expect(JSON.parse(await twin.text())).toEqual({ ...bisectAnswer(), changes: CHANGES.checkpoints });
});
