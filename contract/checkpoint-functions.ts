/** The functions of checkpoints. */
import { bisectSessionAnswer, bisectSessionInput } from './bisect.ts';
import { blameAnswer, blameInput } from './blame.ts';
import { changesAnswer, diffAnswer } from './change-answers.ts';
import {
  checkpointAnswer,
  contextAnswer,
  deleteCopyAnswer,
  endSessionAnswer,
  forkSessionAnswer,
  listCopiesAnswer,
  listSessionsAnswer,
  progressAnswer,
  rehydrateAnswer,
  startSessionAnswer,
  timelineAnswer,
} from './checkpoint-answers.ts';
import {
  changesInput,
  checkpointInput,
  deleteCopyInput,
  diffInput,
  endSessionInput,
  forkSessionInput,
  listCopiesInput,
  listSessionsInput,
  mergeInput,
  progressInput,
  rehydrateInput,
  revertInput,
  rollbackInput,
  sessionInput,
  startSessionInput,
  timelineInput,
} from './checkpoint-inputs.ts';
import { type FunctionRow, LONGEST_SECONDS, type TableAction } from './function-row.ts';
import { mergeAnswer, rollbackAnswer } from './rollback-answers.ts';
import { searchSessionsAnswer, searchSessionsInput } from './search-sessions.ts';
import { preflightAnswer, verifyCommitmentsAnswer } from './workspace-answers.ts';
import { preflightRequest, verifyCommitmentsRequest } from './workspace-inputs.ts';

/** What a capture needs. */
const CAPTURE: readonly TableAction[] = ['GetItem', 'Query', 'PutItem', 'BatchWriteItem', 'UpdateItem'];

/** What a call needs that moves a session: it reads several items at once. */
export const SESSION_MOVE: readonly TableAction[] = [...CAPTURE, 'BatchGetItem'];

export const CHECKPOINT_FUNCTIONS = {
  'start-session': {
    description: 'Starts a session and takes its baseline checkpoint',
    input: startSessionInput,
    answer: startSessionAnswer,
    callers: ['agent-backend'],
    timeoutSeconds: LONGEST_SECONDS,
    grants: { sessions: CAPTURE, bucket: 'capture', sandbox: true },
  },
  checkpoint: {
    description: 'Captures all repositories of a session',
    input: checkpointInput,
    answer: checkpointAnswer,
    callers: ['agent-backend'],
    timeoutSeconds: LONGEST_SECONDS,
    grants: { sessions: SESSION_MOVE, bucket: 'capture', sandbox: true },
  },
  rollback: {
    description: 'Puts all repositories of a session back to a checkpoint',
    input: rollbackInput,
    answer: rollbackAnswer,
    callers: ['agent-backend', 'reviewer', 'operator'],
    timeoutSeconds: LONGEST_SECONDS,
    // It names the effects of sagas that it leaves standing.
    grants: {
      identifiesPeople: true,
      sessions: SESSION_MOVE,
      bucket: 'capture',
      sandbox: true,
      sagas: ['GetItem', 'Query'],
      ledger: ['Query'],
    },
  },
  revert: {
    description: 'Takes back what one message changed, and keeps later work',
    input: revertInput,
    answer: rollbackAnswer,
    callers: ['agent-backend', 'reviewer', 'operator'],
    timeoutSeconds: LONGEST_SECONDS,
    grants: { identifiesPeople: true, sessions: SESSION_MOVE, bucket: 'capture', sandbox: true },
  },
  'fork-session': {
    description: 'Begins a session of its own at a checkpoint of another, in a fresh sandbox',
    input: forkSessionInput,
    answer: forkSessionAnswer,
    callers: ['agent-backend'],
    timeoutSeconds: LONGEST_SECONDS,
    grants: { sessions: CAPTURE, bucket: 'capture', sandbox: true },
  },
  merge: {
    description: 'Brings the work of a fork into its source, or of the source into a fork',
    input: mergeInput,
    answer: mergeAnswer,
    callers: ['agent-backend'],
    timeoutSeconds: LONGEST_SECONDS,
    grants: { sessions: SESSION_MOVE, bucket: 'capture', sandbox: true },
  },
  preflight: {
    description: 'Checks whether a sandbox, or a fresh one of a template, has what work in it needs',
    input: preflightRequest,
    answer: preflightAnswer,
    callers: ['agent-backend', 'operator'],
    timeoutSeconds: 300,
    grants: { sandbox: true, keepsCalls: true },
  },
  rehydrate: {
    description: 'Rebuilds a checkpoint in a fresh sandbox',
    input: rehydrateInput,
    answer: rehydrateAnswer,
    callers: ['agent-backend', 'reviewer', 'operator'],
    timeoutSeconds: LONGEST_SECONDS,
    grants: { sessions: CAPTURE, bucket: 'restore', sandbox: true },
  },
  'verify-commitments': {
    description: 'Runs commands in a fresh copy of a checkpoint, and kills the copy',
    input: verifyCommitmentsRequest,
    answer: verifyCommitmentsAnswer,
    callers: ['agent-backend', 'reviewer'],
    timeoutSeconds: LONGEST_SECONDS,
    grants: { sessions: CAPTURE, bucket: 'restore', sandbox: true },
  },
  'bisect-session': {
    description: 'Finds the message that broke something, by a command in fresh copies of checkpoints',
    input: bisectSessionInput,
    answer: bisectSessionAnswer,
    callers: ['agent-backend', 'reviewer', 'operator'],
    timeoutSeconds: LONGEST_SECONDS,
    grants: { sessions: CAPTURE, bucket: 'restore', sandbox: true },
  },
  timeline: {
    description: 'Answers the tree of checkpoints of a session',
    input: timelineInput,
    answer: timelineAnswer,
    callers: ['agent-backend', 'reviewer', 'operator'],
    timeoutSeconds: 60,
    grants: { sessions: ['GetItem', 'Query'] },
  },
  progress: {
    description: 'Answers how far long work or a search of a session is',
    input: progressInput,
    answer: progressAnswer,
    callers: ['agent-backend', 'reviewer', 'operator'],
    timeoutSeconds: 60,
    grants: { sessions: ['GetItem'] },
  },
  context: {
    description: "Writes the agent's system prompt text about its repositories",
    input: sessionInput,
    answer: contextAnswer,
    callers: ['agent-backend'],
    timeoutSeconds: 300,
    grants: { sessions: ['GetItem'], sandbox: true },
  },
  diff: {
    description: 'Compares two checkpoints of a session',
    input: diffInput,
    answer: diffAnswer,
    callers: ['agent-backend', 'reviewer', 'operator'],
    timeoutSeconds: 300,
    grants: { sessions: ['GetItem', 'Query'], sandbox: true, keepsCalls: true },
  },
  blame: {
    description: 'Says for each line of a file which message and tool call wrote it',
    input: blameInput,
    answer: blameAnswer,
    callers: ['agent-backend', 'reviewer', 'operator'],
    timeoutSeconds: 300,
    grants: { sessions: ['GetItem', 'Query'], bucket: 'restore', sandbox: true, keepsCalls: true },
  },
  changes: {
    description: 'Answers what a checkpoint or a message changed; needs no sandbox',
    input: changesInput,
    answer: changesAnswer,
    callers: ['agent-backend', 'reviewer', 'operator'],
    timeoutSeconds: 60,
    grants: { sessions: ['GetItem', 'Query'], bucket: 'restore' },
  },
  'list-sessions': {
    description: 'Lists sessions',
    input: listSessionsInput,
    answer: listSessionsAnswer,
    callers: ['reviewer', 'operator'],
    timeoutSeconds: 60,
    grants: { sessions: ['BatchGetItem'], listsSessions: true },
  },
  'search-sessions': {
    description: 'Searches what was said, run and changed in sessions',
    input: searchSessionsInput,
    answer: searchSessionsAnswer,
    callers: ['reviewer', 'operator'],
    timeoutSeconds: 60,
    grants: { sessions: ['GetItem', 'Query'], searchesWords: true },
  },
  'end-session': {
    description: 'Ends a session and starts its retention',
    input: endSessionInput,
    answer: endSessionAnswer,
    callers: ['agent-backend'],
    timeoutSeconds: LONGEST_SECONDS,
    // It kills the sandbox of a fork that is discarded, unless another session works there. Before that, it
    // takes a last checkpoint.
    grants: {
      sessions: SESSION_MOVE,
      listsSessions: true,
      bucket: 'capture',
      sandbox: true,
    },
  },
  'list-copies': {
    description: 'Lists review copies that no session works in',
    input: listCopiesInput,
    answer: listCopiesAnswer,
    callers: ['agent-backend', 'reviewer', 'operator'],
    timeoutSeconds: 300,
    grants: { sessions: ['GetItem', 'BatchGetItem'], listsSessions: true, sandbox: true },
  },
  'delete-copy': {
    description: 'Kills the sandbox of a review copy; never one that a session works in',
    input: deleteCopyInput,
    answer: deleteCopyAnswer,
    callers: ['agent-backend', 'reviewer', 'operator'],
    timeoutSeconds: 300,
    grants: { sessions: ['GetItem', 'BatchGetItem'], listsSessions: true, sandbox: true },
  },
  'publish-session-events': {
    description: 'Turns changes of the Sessions table into events and deletes expired bundles',
    callers: ['internal'],
    timeoutSeconds: 60,
    grants: { sessions: ['GetItem', 'Query'], bucket: 'delete', publishesEvents: true, stream: 'sessions' },
  },
  'keep-words': {
    description: 'Keeps the words of checkpoints for walkback-search-sessions',
    callers: ['internal'],
    timeoutSeconds: 60,
    grants: {
      sessions: ['Query', 'PutItem'],
      bucket: 'restore',
      stream: 'sessions',
      gathers: { seconds: 2, items: 'checkpoints' },
    },
  },
} as const satisfies Record<string, FunctionRow>;
