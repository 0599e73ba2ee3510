/** The page that says who wrote each line of a file, and the ways to it. */
import { expect, test } from 'vitest';
import { WalkbackError } from '../../core/shared/errors.ts';
import { blameAnswer } from '../support/blame-answer.ts';
import { made, NASTY, NO_SAGA, session } from '../support/console-in-process.ts';

const TIMELINE = {
  session: session('s1'),
  checkpoints: [],
  messages: [
    {
      messageId: 'msg-3',
      order: 3,
      title: `Faster ${NASTY}`,
      discarded: false,
      checkpointId: 'cp-00000007-0badcafe',
    },
  ],
};

const ANSWERS = { ...NO_SAGA, timeline: () => TIMELINE, blame: () => blameAnswer() };

const AT = '/sessions/s1/blame';

const open = async (address: string, answers: Parameters<typeof made>[0] = {}) => {
  const { fetchPage, enter, calls } = made({ ...ANSWERS, ...answers }, { patienceMs: 60_000 });
  const { cookie } = await enter();
  const page = await fetchPage(address, { headers: { cookie } });
  const asked = calls.filter(({ name }) => name === 'blame').map(({ input }) => input);
  return { status: page.status, text: await page.text(), asked, calls };
};

test('without a file it is a form', async () => {
  const { text, asked } = await open(AT);
  expect(text).toContain('<input id="file" name="file" required value=""');
  expect(text).toContain('<option value="msg-3">');
  expect(asked).toEqual([]);
});

test('each line has who wrote it beside it, and all of it is text', async () => {
  const { status, text, asked } = await open(
    `${AT}?file=src%2Fprice.ts&repository=api&at=msg-3&sandbox=copy`,
  );
  expect(status).toBe(200);
  expect(asked).toMatchObject([
    { sessionId: 's1', path: 'src/price.ts', repository: 'api', at: 'msg-3', sandboxId: 'copy' },
  ]);
  expect(text.match(/<div class="run">/g)).toHaveLength(5);
  expect(text.match(/<b data-n="\d+"><\/b>/g)).toHaveLength(6);
  expect(text).toMatch(/<a href="\/sessions\/s1\?message=msg-3">.*Make it\^\[\[2J &lt;b&gt;faster/);
  expect(text).toContain('Edit src/&lt;i&gt;price.ts');
  expect(text).toMatch(
    /href="\/sessions\/s1\/compare\?from=cp-00000006-0badcafe&amp;to=cp-00000007-0badcafe&amp;repository=api&amp;file=src%2Fold.ts/,
  );
  expect(text).toMatch(/cp-2 of fork-1.*The work of no message/s);
  expect(text).toContain('Before the session, not committed');
  expect(text).toMatch(/href="\/sessions\/s1\/compare\?from=head&amp;to=now&amp;repository=api/);
  expect(text).toContain('&lt;img src=x onerror=alert(1)&gt;');
  expect(text).toContain('Ann &lt;script&gt;alert(1)&lt;/script&gt;');
  // The mark of the direction is told, and has no effect.
  expect(text).toContain('&lt;U+202E&gt;');
  expect(text).not.toMatch(/<img|<script>|\u202e|\p{Cc}\[/u);
});

test('a long file is shown from the line that was asked for, and leads on', async () => {
  const more = blameAnswer({ totalLines: 9_000, nextLine: 2_007 });
  const { text, asked } = await open(`${AT}?file=a&from=7`, { blame: () => more });
  expect(asked).toMatchObject([{ path: 'a', lines: { from: 7 } }]);
  expect(text).toMatch(/<a href="\/sessions\/s1\/blame\?[^"]*from=2007">.*from line 2007 on/);
  expect(text).toContain('From the first line');
  const odd = await open(`${AT}?file=a&from=-5`);
  expect(odd.asked[0]).not.toHaveProperty('lines');
});

test('what is refused says what to do on a page', async () => {
  const { status, text } = await open(`${AT}?file=a.txt`, {
    blame: () => {
      throw new WalkbackError(
        'PathAmbiguous',
        '"a.txt" is a file of 2 repositories: api, web. Name one of them with --repository (repository), or begin the path with it.',
      );
    },
  });
  expect(status).toBe(400);
  expect(text).toContain('is a file of 2 repositories: api, web');
  expect(text).toContain('name one of the repositories in the form');
  expect(text).not.toContain('--repository');
});

test('the twin is the answer', async () => {
  const { text } = await open(`${AT}?file=a&format=json`);
  expect(JSON.parse(text)).toEqual(blameAnswer());
});

test('an empty file is said to be empty', async () => {
  const { text } = await open(`${AT}?file=a`, {
    blame: () => blameAnswer({ totalLines: 0, lines: [], origins: [] }),
  });
  expect(text).toContain('The file is empty.');
});

test('diffs lead to it, but not those of a file that is gone', async () => {
  const patch = (mode: string, line: string, name: string) =>
    `diff --git a/api/${name} b/api/${name}\n${mode}--- a/api/${name}\n+++ b/api/${name}\n@@ -1,2 +1,2 @@\n one\n${line}\n`;
  const { text } = await open('/sessions/s1/compare?from=msg-3&to=head&sandbox=copy', {
    diff: () => ({
      repositories: [
        {
          path: 'api',
          diff: patch('', '+two', 'a.txt') + patch('deleted file mode 100644\n', '-two', 'gone.txt'),
          truncated: false,
          files: 2,
          added: 1,
          deleted: 1,
        },
      ],
      warnings: [],
    }),
  });
  const links = [...text.matchAll(/href="(\/sessions\/s1\/blame\?[^"]*)"/g)].map(([, href]) => href);
  expect(links).toEqual(['/sessions/s1/blame?file=a.txt&amp;repository=api&amp;at=head&amp;sandbox=copy']);
});
