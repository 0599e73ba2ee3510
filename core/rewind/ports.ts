/** What a rewind of a session needs from both halves. */

import type { RollbackAnswer } from '../../contract/rollback-answers.ts';
import type { SessionStore } from '../checkpoint/ports/stores.ts';
import type { RollbackRequest } from '../checkpoint/rollback/rollback-preview.ts';
import type { AdvanceDependencies } from '../saga/ports.ts';
import type { Invocation } from '../shared/deadline.ts';

export type TakeBackDependencies = Pick<AdvanceDependencies, 'store' | 'engine' | 'clock' | 'log'>;

export interface SessionRewindDependencies extends TakeBackDependencies {
  sessions: SessionStore;
  /** The ordinary rollback of a session (C1, C3). */
  rollback: (input: RollbackRequest, invocation: Invocation) => Promise<RollbackAnswer>;
}
