import { inputOf } from '../contract/functions.ts';
import type { ExportReport } from '../contract/ledger-export.ts';
import { createBackfill, createExportChanges, createExportSaga } from '../core/saga/ledger/export-ledger.ts';
import { parseInput } from '../core/shared/parse-input.ts';
import { exportStore } from './export-runtime.ts';
import { createEventHandler } from './handler.ts';
import { sagaStore } from './saga-runtime.ts';
import { type BatchResponse, isStreamBatch, movedSagas } from './stream-runtime.ts';

/** Fed by the Sagas table's stream, and called by an operator for earlier days. */
export const handler = createEventHandler<unknown, BatchResponse | ExportReport>(
  'export-ledger',
  async (runtime) => {
    const { log, clock } = runtime;
    const store = sagaStore(runtime);
    const exportSaga = createExportSaga({ store, exports: exportStore(runtime), clock });
    const changes = movedSagas(createExportChanges({ exportSaga, log }));
    const backfill = createBackfill({ store, exportSaga, clock });
    return async (event, invocation) =>
      isStreamBatch(event)
        ? changes(event)
        : backfill(parseInput(inputOf('export-ledger'), event), invocation);
  },
);
