/** The part of the composition root that wires the store and the signer of ledger digests. */
import { createAnchorStore } from '../adapters/aws/sagas/anchor-store.ts';
import { createLedgerSigner, readLedgerKey } from '../adapters/aws/sagas/ledger-signer.ts';
import { createReadOutcomes } from '../adapters/aws/sagas/saga-audit.ts';
import type { AnchorStore, LedgerSigner, ReadOutcomes } from '../core/saga/ledger/anchor.ts';
import { type Runtime, required } from './runtime.ts';

export const anchorStore = ({ env }: Runtime): AnchorStore =>
  createAnchorStore({ bucket: required(env, 'WALKBACK_ANCHOR_BUCKET') });

export const ledgerSigner = ({ env }: Runtime): LedgerSigner =>
  createLedgerSigner({ keyArn: required(env, 'WALKBACK_ANCHOR_KEY_ARN') });

/** The public key as PEM. Read once per instance, because the public half of a key never changes. */
export const ledgerPublicKey = ({ env }: Runtime): (() => Promise<string>) => {
  let known: Promise<string> | undefined;
  return () => {
    const reading = (known ??= readLedgerKey({ keyArn: required(env, 'WALKBACK_ANCHOR_KEY_ARN') }));
    reading.catch(() => {
      known = undefined;
    });
    return reading;
  };
};

export const readOutcomes = ({ env }: Runtime): ReadOutcomes =>
  createReadOutcomes({ ledgerTable: required(env, 'WALKBACK_LEDGER_TABLE') });
