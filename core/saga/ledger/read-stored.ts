/** Reads everything that is stored of one saga, page by page, so that the reader can verify it. */
import type { LedgerAnswer } from '../../../contract/ledger-query.ts';
import type { SagaHead } from '../model/head.ts';
import type { LedgerEntry } from '../model/ledger-entry.ts';
import type { Finding } from './audit.ts';
import { fromRow } from './ledger-row.ts';
import type { StoredSaga } from './verify-saga.ts';

const PAGE = 500;

interface EvidenceRequest {
  sagaId: string;
  evidence: true;
  limit: number;
  cursor?: string;
}

/**
 * Throws what `ask` throws (`SagaNotFound` when nothing is stored), and `otherRelease()` when the functions do
 * not answer what this release asks for.
 */
export const readStored = async (
  sagaId: string,
  ask: (request: EvidenceRequest) => Promise<LedgerAnswer>,
  otherRelease: () => Error,
): Promise<StoredSaga> => {
  const entries: LedgerEntry[] = [];
  const findings: Finding[] = [];
  let head: SagaHead | null = null;
  let cursor: string | undefined;
  do {
    const answer: LedgerAnswer = await ask({
      sagaId,
      evidence: true,
      limit: PAGE,
      ...(cursor !== undefined && { cursor }),
    });
    if (answer.evidence === undefined) throw otherRelease();
    for (const row of answer.entries ?? []) entries.push(fromRow(row));
    findings.push(...answer.evidence.findings);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the functions' own, of this release; verifying it is what comes
    head = (answer.evidence.head ?? null) as SagaHead | null;
    cursor = answer.cursor;
  } while (cursor !== undefined);
  return { sagaId, head, entries, findings };
};
