/** The part of the composition root that wires the store of the ledger's export. */
import { createExportStore } from '../adapters/aws/sagas/export-store.ts';
import type { ExportStore } from '../core/saga/ledger/export-ledger.ts';
import { type Runtime, required } from './runtime.ts';

export const exportStore = ({ env }: Runtime): ExportStore =>
  createExportStore({ bucket: required(env, 'WALKBACK_EXPORT_BUCKET') });
