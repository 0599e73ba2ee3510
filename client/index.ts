/** The public entry of the package `walkback`. What is not exported here is not promised. */
export { isReadOnly } from './classify.ts';
export { errors, isWalkbackError, WalkbackError } from './errors.ts';
export type { Invoke } from './invoke.ts';
export type { Plan, RollbackOptions } from './plan.ts';
export type { Point } from './point.ts';
export type { Answer, Request } from './requests.ts';
export type { CheckpointWarning, OnCheckpointError, Run, RunOptions } from './run.ts';
export type { CheckpointOptions, RehydrateOptions, RewindOptions, Session } from './session.ts';
export type { Sessions, StartOptions } from './sessions.ts';
export type { ToolCall } from './tool-call.ts';
export { Walkback, type WalkbackOptions } from './walkback.ts';
