import type { Finding } from '../../core/saga/ledger/audit.ts';
import { readStored } from '../../core/saga/ledger/read-stored.ts';
import type { StoredSaga } from '../../core/saga/ledger/verify-saga.ts';
import type { Run } from '../app.ts';
import { CliError } from '../failure.ts';

const PAGE = 500;

export const wrongRelease = () =>
  new CliError(
    'InvalidInput',
    'The functions deployed here are of another release, which this one cannot verify.',
    {
      hint: 'deploy this release, or verify with the one that is deployed',
    },
  );

/** Everything that is stored of one saga. Throws `SagaNotFound` when nothing is stored. */
export const readSaga = (run: Pick<Run, 'invoke'>, sagaId: string): Promise<StoredSaga> =>
  readStored(sagaId, (request) => run.invoke('walkback-query-ledger', request), wrongRelease);

/** The sagas that the index has for a day, and what is wrong with the day's entries. */
export const readDay = async (
  run: Run,
  day: string,
): Promise<{ sagas: Set<string>; findings: Finding[] }> => {
  const sagas = new Set<string>();
  const findings: Finding[] = [];
  let cursor: string | undefined;
  do {
    const answer = await run.invoke('walkback-query-ledger', {
      day,
      evidence: true,
      limit: PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    if (answer.evidence === undefined) throw wrongRelease();
    for (const row of answer.entries ?? []) sagas.add(row.saga_id);
    findings.push(...answer.evidence.findings);
    for (const { sagaId } of answer.evidence.findings) sagas.add(sagaId);
    cursor = answer.cursor;
  } while (cursor !== undefined);
  return { sagas, findings };
};
