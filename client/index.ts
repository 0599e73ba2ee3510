/** The public entry of the package `walkback`. What it does not export may change at any time. */
export { checkpointed } from './checkpointed.ts';
export { isReadOnly } from './classify.ts';
export { errors, isWalkbackError, WalkbackError } from './errors.ts';
export type { CallOptions, Invoke } from './invoke.ts';
export type { Ledger, LedgerFinding, VerifiedLedger } from './ledger.ts';
export type { Plan, RollbackOptions } from './plan.ts';
export type { Point } from './point.ts';
export type { Answer, Asker, Request } from './requests.ts';
export type { CheckpointWarning, OnCheckpointError, Run, RunOptions } from './run.ts';
export type { Saga, SagaRewindOptions, SubmitOptions } from './saga.ts';
export { type HostTool, type SagaToolsOptions, sagaTools } from './saga-tools.ts';
export type { InteractiveOptions, Sagas, StartSagaOptions } from './sagas.ts';
export type { MessageText, Redact } from './said.ts';
export type {
  CheckpointOptions,
  Fork,
  ForkOptions,
  MergeOptions,
  RehydrateOptions,
  RewindOptions,
  Session,
  UndoOptions,
} from './session.ts';
export type { BisectOptions, Sessions, StartOptions } from './sessions.ts';
export type { ToolCall } from './tool-call.ts';
export type { CallToolOptions, Tools } from './tools.ts';
export { Walkback, type WalkbackOptions } from './walkback.ts';
