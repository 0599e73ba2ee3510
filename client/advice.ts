/** What to do about an error, in the words of a program that uses the client. */
import { type ErrorName, errorRow } from '../contract/errors.ts';

const POINTS = 'session.timeline() answers the messages and checkpoints of the session';
const SAGAS = 'walkback.sagas.list() answers the sagas, saga.describe() their steps';
const STANDS = 'saga.describe() says where the saga stands';
const REPAIR = 'saga.operate() with the action retry, resolve or skip, for each step that is left';
const ANOTHER_TARGET = 'choose another checkpoint (session.timeline() answers them), and look at the bucket';
const SIGN_IN = 'get another token of the person, and give it as `proof`';
const SAME_REQUEST = 'with the same requestId';

/** Where the advice of the contract names commands. */
const IN_CODE: Partial<Record<ErrorName, string>> = {
  InvalidInput: 'correct the fields that the message names; the types of the call say what is expected',
  SessionNotFound: 'walkback.sessions.list() answers the sessions',
  SessionEnded:
    'walkback.sessions.list() answers those that run: go on in one, start another, or rehydrate a checkpoint of this one',
  MessageNotFound: POINTS,
  CheckpointNotFound: POINTS,
  IncompleteTarget: 'session.timeline() says what it lacks; allowPartial restores the rest',
  SandboxNotFound: "session.rehydrate({ mode: 'resume' }) brings the session back in a fresh sandbox",
  RollbackInProgress: `wait for it, or repeat it ${SAME_REQUEST} to finish it`,
  RollbackIncomplete: `repeat it ${SAME_REQUEST}, or rehydrate with mode resume`,
  BundleMissing: ANOTHER_TARGET,
  BundleCorrupt: ANOTHER_TARGET,
  PathNotFound:
    'session.diff() and session.changes() answer the paths; `at` names a point at which it is there',
  PathAmbiguous: 'name one of the repositories as `repository`',
  SagaNotFound: SAGAS,
  StepNotFound: SAGAS,
  AnswerConflict: 'look at it again: saga.describe() says what was answered, and what is asked now',
  OperationConflict: 'look at it again: saga.describe() says what became of the step, and who decided it',
  ApprovalPending: 'nobody has decided yet: saga.answer(), or the same call again, which goes on waiting',
  SagaNotInteractive: `it has a plan: ${STANDS}`,
  SagaParked: 'resume it: walkback.sagas.interactive() with its id, or submit a step of another session',
  OperationRefused: STANDS,
  PointOfNoReturn: 'acceptResidue with a reason leaves standing what the message names',
  ChildUndone: 'saga.describe() of the child that the message names says why it failed',
  ChildFailed: REPAIR,
  UnwoundByParent: 'the saga that runs this one is undone: its saga.describe() says why',
  Rewound: 'the saga was rewound: saga.describe() says what it goes on with',
  CompensationBlocked: REPAIR,
  CompensationFailed: REPAIR,
  ProofRequired: 'give a token of the person as `proof`',
  ProofInvalid: SIGN_IN,
  ProofTooOld: SIGN_IN,
  CloudUnavailable: 'check that the embedded cloud runs, or that the network is there',
  DataDirInUse: 'another process works there: wait for it, or choose another dataDir',
  CheckpointIncomplete:
    'it was taken: correct what is missing, and take another; allowPartial goes back to it as it is',
  NotConfirmed: 'nobody agreed',
  RewindUnfinished: `the same call ${SAME_REQUEST} goes on, or says how far it is`,
};

const isKnown = (name: string): name is keyof typeof IN_CODE => Object.hasOwn(IN_CODE, name);

/** Undefined for an error that this release does not know. */
export const adviceInCode = (name: string): string | undefined =>
  (isKnown(name) ? IN_CODE[name] : undefined) ?? errorRow(name)?.advice;
