import type { ErrorName } from '../core/shared/errors.ts';

/** What a caller asked wrongly, or what stands in its way as designed: no alarm rings for these. */
const REFUSALS: ReadonlySet<string> = new Set<ErrorName>([
  'InvalidInput',
  'SessionNotFound',
  'SessionEnded',
  'SessionConflict',
  'MessageNotFound',
  'CheckpointNotFound',
  'RequestConflict',
  'StaleEpoch',
  'IncompleteTarget',
  'SandboxNotFound',
  'SandboxUnsupported',
  'SandboxChanged',
  'ProjectsRootNotFound',
  'NoRepositories',
  'RestoreConflict',
  'RollbackInProgress',
  'PlanRefused',
  'CatalogRefused',
  'SagaNotFound',
  'StepNotFound',
  'AnswerConflict',
  'ApprovalExpired',
  'ApprovalDeclined',
  'OperationRefused',
]);

export const isRefusal = (name: string): boolean => REFUSALS.has(name);
