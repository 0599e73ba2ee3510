/** What the scripted agent does in two repositories, and whether each of it is taken back. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type MessagesApi, startMessagesApi } from '../../test/support/hosts/messages-api.ts';
import type { ScriptedCall } from '../../test/support/integration-conformance.ts';

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], {
    cwd,
    encoding: 'utf8',
  });

const FILES: Readonly<Record<string, readonly string[]>> = {
  api: ['edited.txt', 'replaced.txt'],
  web: ['kept/a.txt', 'kept/b.txt', 'page.txt'],
};

export const makeRepositories = (root: string): void => {
  for (const [name, files] of Object.entries(FILES)) {
    for (const file of files) {
      const path = join(root, name, file);
      mkdirSync(join(path, '..'), { recursive: true });
      writeFileSync(path, 'as it was\n');
    }
    git(join(root, name), 'init', '-q', '-b', 'main');
    git(join(root, name), 'add', '-A');
    git(join(root, name), 'commit', '-qm', 'one');
  }
};

/** A call of one of the host's own tools. */
const call = (id: string, tool: string, input: object): ScriptedCall => ({
  id: `toolu_${id}`,
  tool: 'edit',
  path: tool,
  text: JSON.stringify(input),
});
const bash = (id: string, command: string): ScriptedCall =>
  call(id, 'Bash', { command, description: 'scripted' });

const COMMIT = "git -c user.name=Ada -c user.email=ada@example.com commit -qam 'by the agent'";

/** One prompt: each tool in a step of its own. */
export const stepsIn = (root: string): ScriptedCall[][] => {
  const edited = join(root, 'api/edited.txt');
  const steps: ScriptedCall[] = [
    call('read', 'Read', { file_path: edited }),
    call('edit', 'Edit', { file_path: edited, old_string: 'as it was', new_string: 'edited' }),
    call('write', 'Write', { file_path: join(root, 'api/written.txt'), content: 'written\n' }),
    bash('sed', `sed -i s/was/became/ ${join(root, 'api/replaced.txt')}`),
    bash('rm', `rm -rf ${join(root, 'web/kept')}`),
    bash('commit', `cd ${join(root, 'web')} && echo more >> page.txt && ${COMMIT}`),
    {
      ...call('sub', 'Write', { file_path: join(root, 'web/of-subagent.txt'), content: 'by a subagent\n' }),
      tool: 'delegate',
    },
  ];
  return steps.map((step) => [step]);
};

export const startModel = (steps: ScriptedCall[][]): Promise<MessagesApi> =>
  startMessagesApi(steps, {
    edit: 'Bash',
    editName: ({ path }) => path,
    editInput: ({ text }) => JSON.parse(text),
    delegate: 'Agent',
    delegateInput: (prompt) => ({ description: 'write', prompt, subagent_type: 'general-purpose' }),
  });

interface Trace {
  what: string;
  isDone: (root: string) => boolean;
  isBack: (root: string) => boolean;
}

const holds = (root: string, path: string, content: string): boolean =>
  existsSync(join(root, path)) && readFileSync(join(root, path), 'utf8') === content;
const commits = (root: string): number =>
  git(join(root, 'web'), 'log', '--oneline').trim().split('\n').length;

export const TRACES: readonly Trace[] = [
  {
    what: 'Edit',
    isDone: (root) => holds(root, 'api/edited.txt', 'edited\n'),
    isBack: (root) => holds(root, 'api/edited.txt', 'as it was\n'),
  },
  {
    what: 'Write (a new file)',
    isDone: (root) => existsSync(join(root, 'api/written.txt')),
    isBack: (root) => !existsSync(join(root, 'api/written.txt')),
  },
  {
    what: 'Bash: `sed -i`',
    isDone: (root) => holds(root, 'api/replaced.txt', 'as it became\n'),
    isBack: (root) => holds(root, 'api/replaced.txt', 'as it was\n'),
  },
  {
    what: 'Bash: `rm -rf`',
    isDone: (root) => !existsSync(join(root, 'web/kept')),
    isBack: (root) =>
      holds(root, 'web/kept/a.txt', 'as it was\n') && holds(root, 'web/kept/b.txt', 'as it was\n'),
  },
  {
    what: 'Bash: `git commit`',
    isDone: (root) => commits(root) === 2,
    isBack: (root) => commits(root) === 1 && holds(root, 'web/page.txt', 'as it was\n'),
  },
  {
    what: "a subagent's Write",
    isDone: (root) => existsSync(join(root, 'web/of-subagent.txt')),
    isBack: (root) => !existsSync(join(root, 'web/of-subagent.txt')),
  },
];
