/** The functions of sagas. */
import { SESSION_MOVE } from './checkpoint-functions.ts';
import { type FunctionRow, LONGEST_SECONDS } from './function-row.ts';
import {
  advanceInput,
  anchorAnswer,
  anchorLedgerInput,
  announceAwaitInput,
  httpToolInput,
  sweepAnswer,
  sweepInput,
} from './internal-inputs.ts';
import { exportLedgerAnswer, exportLedgerInput } from './ledger-export.ts';
import { ledgerAnswer } from './ledger-query.ts';
import { rewindAnswer, rewindInput } from './rewind.ts';
import {
  answeredSaga,
  calledTool,
  closedSaga,
  operatedSaga,
  parkedSagas,
  startedSaga,
  steppedSaga,
} from './saga-answers.ts';
import {
  answerInput,
  callToolInput,
  closeSagaInput,
  describeSagaInput,
  listCatalogInput,
  listLocksInput,
  listSagasInput,
  operateSagaInput,
  parkSagaInput,
  putCatalogInput,
  queryLedgerInput,
  startSagaInput,
  submitStepInput,
} from './saga-inputs.ts';
import { catalogAnswer, catalogStored, locksAnswer, sagasAnswer } from './saga-lists.ts';
import { observation } from './saga-observation.ts';

/**
 * Shorter than the 60 s of the states that call these, so that the machine sees the function's own error.
 */
const STATE_FUNCTION_SECONDS = 50;

const MOVE = { sagas: ['GetItem', 'PutItem'], ledger: ['GetItem', 'PutItem'] } as const;
/** Reads the whole ledger of a saga too. Who moves one may need any of its entries: for a step that was submitted, or what a call moved. */
const MOVE_AND_LIST = { ...MOVE, ledger: [...MOVE.ledger, 'Query'] } as const;

/** Checks the epoch of a session, and again in the transaction that writes. */
const EPOCH = ['GetItem', 'ConditionCheckItem'] as const;

export const SAGA_FUNCTIONS = {
  'start-saga': {
    description: 'Checks, pins and starts a saga',
    input: startSagaInput,
    answer: startedSaga,
    callers: ['agent-backend'],
    timeoutSeconds: 60,
    grants: {
      sessions: EPOCH,
      sagas: ['GetItem', 'PutItem', 'BatchWriteItem'],
      permits: 'take',
      ledger: ['GetItem', 'PutItem'],
      engine: ['StartExecution', 'DescribeExecution', 'SendTaskSuccess'],
      callsTools: true,
    },
  },
  'submit-step': {
    description: 'Takes a step of an interactive saga and drives it',
    input: submitStepInput,
    answer: steppedSaga,
    callers: ['agent-backend'],
    // It calls the tool itself, and tools may take long.
    timeoutSeconds: LONGEST_SECONDS,
    grants: {
      sessions: EPOCH,
      ...MOVE_AND_LIST,
      permits: 'take',
      engine: ['StartExecution', 'DescribeExecution', 'SendTaskSuccess'],
      callsTools: true,
    },
  },
  'call-tool': {
    description: 'Calls one tool, as a saga of one step',
    input: callToolInput,
    answer: calledTool,
    callers: ['agent-backend'],
    timeoutSeconds: LONGEST_SECONDS,
    grants: {
      sessions: EPOCH,
      sagas: ['GetItem', 'PutItem', 'BatchWriteItem'],
      permits: 'take',
      ledger: MOVE_AND_LIST.ledger,
      engine: ['StartExecution', 'DescribeExecution', 'SendTaskSuccess'],
      callsTools: true,
    },
  },
  'park-saga': {
    description: 'Puts an interactive saga aside, with a summary for whoever goes on',
    input: parkSagaInput,
    answer: parkedSagas,
    callers: ['agent-backend', 'operator'],
    // It takes a checkpoint.
    timeoutSeconds: LONGEST_SECONDS,
    grants: {
      sagas: ['GetItem', 'PutItem', 'Query'],
      permits: 'take',
      ledger: MOVE_AND_LIST.ledger,
      engine: ['StartExecution'],
      sessions: SESSION_MOVE,
      bucket: 'capture',
      sandbox: true,
    },
  },
  'close-saga': {
    description: 'Ends an interactive saga: all of it stands, or is taken back',
    input: closeSagaInput,
    answer: closedSaga,
    callers: ['agent-backend'],
    timeoutSeconds: 60,
    grants: {
      sagas: ['GetItem', 'PutItem'],
      permits: 'take',
      ledger: ['GetItem', 'PutItem'],
      engine: ['StartExecution', 'DescribeExecution', 'SendTaskSuccess'],
    },
  },
  'describe-saga': {
    description: 'Answers what a saga did',
    input: describeSagaInput,
    answer: observation,
    callers: ['agent-backend', 'reviewer', 'operator'],
    // Longer than the 600 s a caller may ask it to wait.
    timeoutSeconds: LONGEST_SECONDS,
    grants: { sagas: ['GetItem'], permits: 'read', ledger: ['GetItem', 'Query'] },
  },
  answer: {
    description: 'Records the answer to an approval',
    input: answerInput,
    answer: answeredSaga,
    callers: ['reviewer'],
    timeoutSeconds: 60,
    grants: { identifiesPeople: true, ...MOVE_AND_LIST, engine: ['SendTaskSuccess'] },
  },
  'operate-saga': {
    description: 'Cancels, undoes or repairs a saga',
    input: operateSagaInput,
    answer: operatedSaga,
    callers: ['operator'],
    timeoutSeconds: 60,
    grants: {
      identifiesPeople: true,
      ...MOVE_AND_LIST,
      permits: 'take',
      engine: ['StartExecution', 'DescribeExecution', 'SendTaskSuccess'],
    },
  },
  rewind: {
    description: 'Takes back a saga, or a session: effects, then files',
    input: rewindInput,
    answer: rewindAnswer,
    callers: ['reviewer', 'operator'],
    // Longer than the 600 s a caller may ask it to wait.
    timeoutSeconds: LONGEST_SECONDS,
    // The rewind of a saga pins another plan, and that of a session brings back files.
    grants: {
      identifiesPeople: true,
      sagas: [...MOVE.sagas, 'Query', 'BatchWriteItem'],
      ledger: MOVE_AND_LIST.ledger,
      sessions: SESSION_MOVE,
      bucket: 'capture',
      sandbox: true,
      engine: ['StartExecution', 'DescribeExecution', 'SendTaskSuccess'],
    },
  },
  'query-ledger': {
    description: 'Answers ledger entries',
    input: queryLedgerInput,
    answer: ledgerAnswer,
    callers: ['reviewer', 'operator', 'finance'],
    timeoutSeconds: 60,
    grants: {
      sagas: ['GetItem'],
      ledger: ['Query'],
      indexes: ['sagas', 'ledger'],
      anchors: 'read',
    },
  },
  'anchor-ledger': {
    description: 'Signs where ledgers ended, and keeps the digests where nobody can change them',
    input: anchorLedgerInput,
    answer: anchorAnswer,
    callers: ['internal', 'operator'],
    timeoutSeconds: 300,
    grants: { indexes: ['days'], anchors: 'write' },
  },
  'export-ledger': {
    description: 'Exports the ledger for Athena, as sagas move, and for earlier days',
    input: exportLedgerInput,
    answer: exportLedgerAnswer,
    callers: ['internal', 'operator'],
    timeoutSeconds: 300,
    grants: {
      ledger: ['Query'],
      indexes: ['days'],
      stream: 'sagas',
      gathers: { seconds: 60, items: 'heads' },
      exportsLedger: true,
    },
  },
  'list-sagas': {
    description: 'Lists sagas',
    input: listSagasInput,
    answer: sagasAnswer,
    callers: ['reviewer', 'operator'],
    timeoutSeconds: 60,
    // What the sagas of a session did is in their ledgers.
    grants: { sagas: ['GetItem', 'Query'], ledger: ['Query'], indexes: ['sagas'] },
  },
  'list-locks': {
    description: 'Lists the locks that sagas hold, and who waits for them',
    input: listLocksInput,
    answer: locksAnswer,
    callers: ['reviewer', 'operator'],
    timeoutSeconds: 60,
    grants: { sagas: ['GetItem'], permits: 'read', indexes: ['sagas'] },
  },
  'list-catalog': {
    description: 'Lists tools and templates',
    input: listCatalogInput,
    answer: catalogAnswer,
    callers: ['agent-backend', 'reviewer', 'operator'],
    timeoutSeconds: 60,
    grants: { sagas: ['Query'] },
  },
  'put-catalog': {
    description: 'Stores tools and templates',
    input: putCatalogInput,
    answer: catalogStored,
    callers: ['operator'],
    timeoutSeconds: 60,
    grants: { sagas: ['GetItem', 'PutItem'], looksAtTools: true },
  },
  'advance-saga': {
    description: 'Moves a saga: the state Advance of the machine',
    input: advanceInput,
    callers: ['internal'],
    timeoutSeconds: STATE_FUNCTION_SECONDS,
    grants: {
      ...MOVE_AND_LIST,
      permits: 'take',
      engine: ['StartExecution', 'DescribeExecution', 'SendTaskSuccess'],
      linksToConsole: true,
    },
  },
  'announce-await': {
    description: 'Keeps the task token of a saga that waits',
    input: announceAwaitInput,
    callers: ['internal'],
    timeoutSeconds: STATE_FUNCTION_SECONDS,
    grants: {
      sagas: ['GetItem', 'PutItem'],
      permits: 'look',
      ledger: ['GetItem'],
      engine: ['SendTaskSuccess'],
    },
  },
  sweep: {
    description: 'Starts sagas again whose execution died',
    input: sweepInput,
    answer: sweepAnswer,
    callers: ['internal', 'operator'],
    timeoutSeconds: 300,
    grants: {
      ...MOVE_AND_LIST,
      permits: 'take',
      indexes: ['sagas'],
      engine: ['StartExecution', 'DescribeExecution', 'SendTaskSuccess'],
    },
  },
  'measure-sagas': {
    description: 'Measures open sagas, waits and failed compensations for the alarms',
    callers: ['internal'],
    timeoutSeconds: 50,
    grants: { indexes: ['sagas'] },
  },
  'publish-saga-events': {
    description: 'Turns changes of the Sagas table into events',
    callers: ['internal'],
    timeoutSeconds: 60,
    // A notice tells what stands in the sagas below, too.
    grants: {
      publishesEvents: true,
      stream: 'sagas',
      sagas: ['GetItem'],
      ledger: ['Query'],
      linksToConsole: true,
    },
  },
  'workspace-tools': {
    description: 'The built-in tools of workspaces, for plans',
    callers: ['internal'],
    // Longer than the tools' own 600 s, shorter than that plus the engine's slack of 5 s.
    timeoutSeconds: 602,
    // It lists sessions before it kills the sandbox of a fork: another one may work there.
    grants: {
      sessions: SESSION_MOVE,
      listsSessions: true,
      bucket: 'capture',
      sandbox: true,
      servesTools: true,
    },
  },
  'http-tool': {
    description: 'Calls tools that are HTTP endpoints',
    input: httpToolInput,
    callers: ['internal'],
    // It serves tools of every deadline, and ends each call at the deadline itself.
    timeoutSeconds: LONGEST_SECONDS,
    grants: { httpTool: true },
  },
} as const satisfies Record<string, FunctionRow>;
