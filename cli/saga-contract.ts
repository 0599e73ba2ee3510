/** The functions' contracts of sagas, as the CLI uses them (docs/sagas.md, "Functions"). Types only. */

import type { LedgerAnswer } from '../core/saga/ledger/query-ledger.ts';
import type { SagaStatus } from '../core/saga/model.ts';
import type { Observation } from '../core/saga/people/observation.ts';
import type { createListCatalog, SagaSummary } from '../core/saga/plan/list-sagas.ts';
import type { CatalogStored } from '../core/saga/plan/put-catalog.ts';
import type {
  AnswerInput,
  DescribeSagaInput,
  ListSagasInput,
  OperateSagaInput,
  PutCatalogInput,
  QueryLedgerInput,
  StartSagaInput,
} from '../core/saga/schemas.ts';

export type CatalogAnswer = Awaited<ReturnType<ReturnType<typeof createListCatalog>>>;

interface Moved {
  sagaId: string;
  status: SagaStatus;
}

export interface SagaContract {
  'walkback-start-saga': { input: StartSagaInput; answer: Moved & { warnings: string[] } };
  'walkback-describe-saga': { input: DescribeSagaInput; answer: Observation };
  'walkback-answer': { input: AnswerInput; answer: Moved };
  'walkback-operate-saga': { input: OperateSagaInput; answer: Moved };
  'walkback-query-ledger': { input: QueryLedgerInput; answer: LedgerAnswer };
  'walkback-list-sagas': { input: ListSagasInput; answer: { sagas: SagaSummary[]; cursor?: string } };
  'walkback-put-catalog': { input: PutCatalogInput; answer: CatalogStored };
  'walkback-list-catalog': { input: Record<string, never>; answer: CatalogAnswer };
}
