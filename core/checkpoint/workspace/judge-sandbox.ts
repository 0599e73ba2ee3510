/** Judges whether a sandbox has what work in it needs, and says what to do where it does not. Pure. */
import type { PreflightCheck } from '../../../contract/workspace-answers.ts';
import { plural } from '../../shared/plural.ts';
import { isAtLeast } from '../../shared/versions.ts';
import type { SurveyReport } from '../ports/survey.ts';
import type { RemoteFacts, SandboxFacts } from '../ports/workspace.ts';

const MIB = 1024 * 1024;
const LEAST_FREE_BYTES = 512 * MIB;
const LEAST_FREE_INODES = 10_000;

const good = (id: string, found: string): PreflightCheck => ({ id, ok: true, found, advice: '' });
const bad = (id: string, found: string, advice: string): PreflightCheck => ({ id, ok: false, found, advice });

const git = ({ git: said }: SandboxFacts): PreflightCheck => {
  if (isAtLeast(said, [2, 38])) return good('git', said);
  if (isAtLeast(said, [2, 29])) {
    return bad('git', said, 'Checkpoints work; to merge, install git 2.38 or newer in the template.');
  }
  return isAtLeast(said, [2, 25])
    ? bad(
        'git',
        said,
        'Checkpoints work, but for repositories in SHA-256 format; for these and to merge, install git 2.38 or newer in the template.',
      )
    : bad('git', said === '' ? 'no git' : said, 'Install git 2.38 or newer in the template.');
};

const uploads = ({ hasCurl }: SandboxFacts): PreflightCheck =>
  good('uploads', hasCurl ? 'curl' : 'no curl; more than 8 MiB of changes go through the functions, slowly');

const needs = (facts: SandboxFacts): PreflightCheck[] =>
  facts.needs.map(({ tool, at }) =>
    at === null
      ? bad(`need:${tool}`, `no ${tool}`, `Install ${tool} in the template, or put it into PATH.`)
      : good(`need:${tool}`, at),
  );

const root = (facts: SandboxFacts, projectsRoot: string, isFresh: boolean): PreflightCheck => {
  const id = 'projects-root';
  switch (facts.root) {
    case 'directory':
      return good(id, projectsRoot);
    case 'other':
      return bad(id, `${projectsRoot} is no directory`, 'Move it away, and make a directory there.');
    case 'missing':
      if (facts.canMakeIn === null) {
        return bad(
          id,
          `${projectsRoot} is not there, and ${facts.user} cannot make it`,
          'Make it in the template, owned by that user, or choose another one.',
        );
      }
      return isFresh
        ? good(id, `not there yet; can be made in ${facts.canMakeIn}`)
        : bad(id, `${projectsRoot} is not there`, `Make it: mkdir -p ${projectsRoot}`);
  }
};

const write = (facts: SandboxFacts): PreflightCheck => {
  if (!facts.hasTemporary) {
    return bad('write', 'nothing can be written to the temporary directory', 'Free its disk, or set TMPDIR.');
  }
  if (facts.root === 'directory' && !facts.isWritable) {
    return bad(
      'write',
      `${facts.user} cannot make a directory in the projects root`,
      'Give that user the right to, or free its disk. Look for .agent-shadow of another owner.',
    );
  }
  return good('write', `as ${facts.user}`);
};

const disk = ({ freeBytes, freeInodes }: SandboxFacts): PreflightCheck => {
  if (freeBytes === null)
    return bad(
      'disk',
      'not known',
      'Look why the file system of the projects root does not say how full it is.',
    );
  const found = `${Math.floor(freeBytes / MIB)} MiB free`;
  if (freeBytes < LEAST_FREE_BYTES) return bad('disk', found, 'Free disk space: 512 MiB at the least.');
  return freeInodes !== null && freeInodes > 0 && freeInodes < LEAST_FREE_INODES
    ? bad(
        'disk',
        `${found}, for ${plural(freeInodes, 'file')}`,
        'Delete files: the file system holds hardly any more.',
      )
    : good('disk', found);
};

/** Judges only the sandbox itself, not its repositories. */
export const judgeSandbox = (
  facts: SandboxFacts,
  { projectsRoot, isFresh }: { projectsRoot: string; isFresh: boolean },
): PreflightCheck[] => [
  git(facts),
  uploads(facts),
  ...needs(facts),
  root(facts, projectsRoot, isFresh),
  write(facts),
  disk(facts),
];

export const judgeRepositories = (
  { repositories, skipped, around }: SurveyReport,
  { unreadable, user }: Pick<SandboxFacts, 'unreadable' | 'user'>,
  isFresh: boolean,
): PreflightCheck => {
  const id = 'repositories';
  const broken = repositories.filter(({ headKind }) => headKind === 'unreadable').map(({ path }) => path);
  if (broken.length > 0) {
    return bad(id, `git cannot read ${broken.join(', ')}`, 'Repair them: `git fsck` says what is wrong.');
  }
  if (unreadable.length > 0) {
    return bad(id, `${user} cannot read ${unreadable.join(', ')}`, 'Give that user the right to read them.');
  }
  if (skipped.length > 0) {
    const listed = skipped.map(({ path, reason }) => `${path} (${reason})`);
    return bad(id, `left out: ${listed.join(', ')}`, 'Move them to where they are looked at.');
  }
  if (repositories.length === 0 && around !== undefined && !isFresh) {
    return bad(
      id,
      `none: the projects root is a directory of the repository ${around}`,
      `Give ${around} as projectsRoot, or a directory above it.`,
    );
  }
  return good(
    id,
    repositories.length === 0
      ? isFresh
        ? 'none yet'
        : 'none: the files of the projects root are captured without git'
      : repositories
          .map(({ path }) => path)
          .toSorted()
          .join(', '),
  );
};

/** What git and ssh write where they would have asked a person. */
const QUESTIONS: readonly [RegExp, string][] = [
  [/could not read (?:Username|Password)|terminal prompts disabled/i, 'asks for a name and a password'],
  [/Authentication failed|HTTP Basic: Access denied/i, 'refuses the credentials'],
  [/Host key verification failed/i, 'is a host that ssh does not know'],
  [/Permission denied \(|Too many authentication failures/i, 'refuses every key'],
];

export const judgePrompts = (remotes: readonly RemoteFacts[]): PreflightCheck => {
  const asking: string[] = [];
  const silent: string[] = [];
  for (const { url, exitCode, said } of remotes) {
    if (exitCode === 0) continue;
    const question = QUESTIONS.find(([pattern]) => pattern.test(said));
    if (question === undefined) silent.push(url);
    else asking.push(`${url} ${question[1]}`);
  }
  if (asking.length > 0) {
    return bad(
      'prompts',
      asking.join('; '),
      'Configure a credential helper, a token or a known host in the template, or take the remote away: git would wait for an answer.',
    );
  }
  if (remotes.length === 0) return good('prompts', 'no remote');
  return good(
    'prompts',
    silent.length === 0 ? 'nothing is asked' : `nothing is asked; no answer from ${silent.join(', ')}`,
  );
};
