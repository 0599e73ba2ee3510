/** The functions' contracts as the CLI uses them (docs/design.md, "Functions"). Types only. */

import type { RehydrateResult, RollbackResult } from '../core/checkpoint/model.ts';
import type {
  CheckpointInput,
  DiffInput,
  ListSessionsInput,
  RehydrateInput,
  RollbackInput,
  SessionInput,
  StartSessionInput,
  TimelineInput,
} from '../core/checkpoint/schemas.ts';
import type { CheckpointAnswer, StartSessionAnswer } from '../core/checkpoint/session/answers.ts';
import type { ContextAnswer } from '../core/checkpoint/session/context.ts';
import type { ListSessionsAnswer } from '../core/checkpoint/session/list-sessions.ts';
import type { DiffAnswer } from '../core/checkpoint/timeline/diff.ts';
import type { TimelineAnswer } from '../core/checkpoint/timeline/timeline.ts';
import type { SagaContract } from './saga-contract.ts';

export interface Contract extends SagaContract {
  'walkback-start-session': { input: StartSessionInput; answer: StartSessionAnswer };
  'walkback-list-sessions': {
    input: ListSessionsInput;
    answer: ListSessionsAnswer;
  };
  /** `expiresAt`: Unix seconds. */
  'walkback-end-session': { input: SessionInput; answer: { sessionId: string; expiresAt: number } };
  'walkback-checkpoint': { input: CheckpointInput; answer: CheckpointAnswer };
  'walkback-timeline': { input: TimelineInput; answer: TimelineAnswer };
  'walkback-diff': { input: DiffInput; answer: DiffAnswer };
  'walkback-rollback': { input: RollbackInput; answer: RollbackResult };
  'walkback-rehydrate': { input: RehydrateInput; answer: RehydrateResult };
  'walkback-context': { input: SessionInput; answer: ContextAnswer };
}

export type FunctionName = keyof Contract;

export type Invoke = <Name extends FunctionName>(
  name: Name,
  input: Contract[Name]['input'],
) => Promise<Contract[Name]['answer']>;
