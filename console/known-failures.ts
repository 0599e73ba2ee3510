/** What pages need to know about an error of `ask`. The error's name decides. */
import { type ErrorName, errorRow } from '../contract/errors.ts';
import { httpStatusOf } from '../contract/http-status.ts';
import type { Visit } from './context.ts';
import { type Failure, told } from './failure-words.ts';

type Questions = Pick<
  Visit,
  'failureOf' | 'isNotFound' | 'brokenBy' | 'isStale' | 'isOvertaken' | 'isLeftBehind' | 'isForbidden'
>;

const STALE: string = 'StaleEpoch' satisfies ErrorName;
const OTHER_RESIDUE: string = 'ResidueChanged' satisfies ErrorName;
const AT_WORK: string = 'RollbackInProgress' satisfies ErrorName;
const LEFT_BEHIND: string = 'WorkLeftBehind' satisfies ErrorName;
const BROKEN: string = 'LedgerBroken' satisfies ErrorName;

/** Somebody else works on the session. */
export const isAtWork = ({ name }: Failure): boolean => name === AT_WORK;

export const questionsOf = (failureOf: (error: unknown) => Failure): Questions => {
  const nameOf = (error: unknown): string => failureOf(error).name;
  return {
    failureOf: (error) => told(failureOf(error)),
    isNotFound: (error) => errorRow(nameOf(error))?.exitCode === 'notFound',
    brokenBy: (error) => {
      const { name, message } = failureOf(error);
      return name === BROKEN ? message : undefined;
    },
    isStale: (error) => [STALE, OTHER_RESIDUE].includes(nameOf(error)),
    isOvertaken: (error) => [STALE, AT_WORK].includes(nameOf(error)),
    isLeftBehind: (error) => nameOf(error) === LEFT_BEHIND,
    isForbidden: (error) => httpStatusOf(nameOf(error)) === 403,
  };
};
