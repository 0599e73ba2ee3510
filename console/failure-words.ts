/** What a page says of an error: what happened, and what to do on a page. Pure. */
import { type ErrorName, errorRow } from '../contract/errors.ts';
import { withoutCommands } from './parts/without-commands.ts';

export interface Failure {
  name: string;
  message: string;
}

/** An error that is not ours is an internal mistake: its name and text are not shown to anybody. */
export const told = (failure: Failure): Failure =>
  errorRow(failure.name) === undefined
    ? { name: 'InternalError', message: 'Something went wrong inside Walkback. Load the page again.' }
    : failure;

const SAGA_PAGE = 'the page of the saga shows where it stands';
const TIMELINE = 'the page of the session shows its messages and checkpoints';
const OTHER_CHECKPOINT = 'choose another checkpoint: the page of the session lists them';
/** A remedy that no page offers. */
const FRESH_SANDBOX = 'whoever runs the agent can bring the session back in a fresh sandbox';
const BY_HAND =
  'the queue has the forms: retry, undone by hand, or left standing, for each step that is left';

/** What to do on a page, for errors whose advice names a command that a page can replace. */
const ON_PAGES: Readonly<Partial<Record<ErrorName, string>>> = {
  InvalidInput: 'go back, and correct what the message names',
  SessionNotFound: 'the page Sessions lists them',
  SessionEnded:
    'the page of the session opens a review copy of a message; the page Sessions lists those that run',
  MessageNotFound: TIMELINE,
  CheckpointNotFound: TIMELINE,
  WorkLeftBehind:
    'nothing of it is left to take back. To have it again, go back to that message: the page of the session leads there',
  PathNotFound:
    'name another file, or another point: the diffs on the page of the session lead to their files',
  PathAmbiguous: 'name one of the repositories in the form: go back to it',
  NotATextFile: 'name a file that consists of lines',
  IncompleteTarget:
    'choose another checkpoint: the page of the session says what each misses. Whoever runs the agent can restore the rest of this one',
  BundleMissing: `${OTHER_CHECKPOINT}. Whoever runs Walkback has to look at the bucket`,
  BundleCorrupt: `${OTHER_CHECKPOINT}. Whoever runs Walkback has to look at the bucket`,
  SandboxNotFound: `the page of the session opens a review copy; ${FRESH_SANDBOX}`,
  RollbackInProgress: 'wait until it is done: the page of the session says whether one is at work',
  RollbackIncomplete: `send the form again, which goes on with it, or ${FRESH_SANDBOX}`,
  SagaNotFound: 'the page Sagas lists them',
  StepNotFound: 'the page of the saga lists its steps',
  AnswerConflict:
    'look at it again: the queue shows what is asked now, the page of the saga what was answered',
  OperationConflict:
    'look at it again: the page of the saga shows what became of the step, and who decided it',
  OperationRefused: SAGA_PAGE,
  SagaNotInteractive: `it has a plan: ${SAGA_PAGE}`,
  PointOfNoReturn: 'plan it again: the tick and the reason there leave standing what the message names',
  ChildFailed: BY_HAND,
  CompensationBlocked: BY_HAND,
  CompensationFailed: BY_HAND,
};

const onPages = (name: string): string | undefined =>
  new Map<string, string>(Object.entries(ON_PAGES)).get(name);

export const adviceOf = (name: string): string | undefined => onPages(name) ?? errorRow(name)?.advice;

/** When the page says what to do, the message need not name a command. */
export const messageOf = ({ name, message }: Failure): string =>
  onPages(name) === undefined ? message : withoutCommands(message);
