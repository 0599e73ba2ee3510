/** In which repository a path may be a file. Pure. */
import { WalkbackError } from '../../shared/errors.ts';
import type { RepositoryState } from '../model.ts';

export interface Candidate {
  repository: string;
  /** In the repository. */
  file: string;
}

export interface Candidates {
  /** The repository that the path itself names. */
  named?: Candidate;
  /** Where the path is looked for otherwise, as one inside the repository. */
  others: Candidate[];
}

const withoutSlash = (path: string): string => path.replace(/\/$/, '');

const isThere = ({ state, tree }: RepositoryState): boolean => state !== 'absent' && tree !== undefined;

const notATextFile = (path: string, what: string): WalkbackError =>
  new WalkbackError('NotATextFile', `"${path}" is ${what}: name a file in it.`, { details: { path } });

const unknownRepository = (repository: string, known: readonly string[]): WalkbackError =>
  new WalkbackError(
    'InvalidInput',
    `There is no repository "${repository}" at that point. Repositories: ${known.slice(0, 20).join(', ') || 'none'}.`,
    { details: { fields: ['repository'], repository, known: known.slice(0, 20) } },
  );

export const candidatesFor = (
  asked: { path: string; repository?: string | undefined },
  states: readonly RepositoryState[],
): Candidates => {
  const known = states.filter(isThere).map(({ path }) => path);
  const path = withoutSlash(asked.path);
  if (asked.repository !== undefined) {
    const repository = withoutSlash(asked.repository);
    if (!known.includes(repository)) throw unknownRepository(repository, known);
    if (path === '.') throw notATextFile(repository, 'a repository');
    return { named: { repository, file: path }, others: [] };
  }
  if (path === '.') throw notATextFile(path, 'the projects root');
  if (known.includes(path)) throw notATextFile(path, 'a repository');
  // The innermost one.
  const around = known
    .filter((one) => one === '.' || path.startsWith(`${one}/`))
    .toSorted((a, b) => Number(a === '.') - Number(b === '.') || b.length - a.length)[0];
  const others = known
    .filter((one) => one !== around)
    .toSorted()
    .map((repository) => ({ repository, file: path }));
  if (around === undefined) return { others };
  return {
    named: { repository: around, file: around === '.' ? path : path.slice(around.length + 1) },
    others,
  };
};

export const ambiguous = (path: string, found: readonly string[]): WalkbackError =>
  new WalkbackError(
    'PathAmbiguous',
    `"${path}" is a file of ${found.length} repositories: ${found.slice(0, 20).join(', ')}. Name one of them with --repository (repository), or begin the path with it.`,
    { details: { path, repositories: found.slice(0, 20) } },
  );
