/** The key that digests of the ledger are signed with. It never leaves KMS. */
import { createPublicKey } from 'node:crypto';
import { GetPublicKeyCommand, KMSClient, SignCommand } from '@aws-sdk/client-kms';
import type { LedgerSigner } from '../../../core/saga/ledger/anchor.ts';
import { WalkbackError } from '../../../core/shared/errors.ts';
import { CLIENT_DEFAULTS } from '../client-defaults.ts';
import { calling } from '../errors.ts';

const SERVICE = 'KMS';

export interface LedgerKeyOptions {
  /** ARN of an ECC_NIST_P256 key for signing. */
  keyArn: string;
  client?: KMSClient;
}

const unexpected = (what: string): WalkbackError =>
  new WalkbackError('InternalError', `KMS answered no ${what} for the key of the ledger.`);

export const createLedgerSigner = ({
  keyArn,
  client = new KMSClient(CLIENT_DEFAULTS),
}: LedgerKeyOptions): LedgerSigner => ({
  sign: async (text) => {
    const command = new SignCommand({
      KeyId: keyArn,
      Message: Buffer.from(text),
      MessageType: 'RAW',
      SigningAlgorithm: 'ECDSA_SHA_256',
    });
    const { Signature } = await calling(SERVICE, () => client.send(command));
    if (Signature === undefined) throw unexpected('signature');
    return { signature: Buffer.from(Signature).toString('base64'), key: keyArn };
  },
});

/** PEM. */
export const readLedgerKey = async ({
  keyArn,
  client = new KMSClient(CLIENT_DEFAULTS),
}: LedgerKeyOptions): Promise<string> => {
  const command = new GetPublicKeyCommand({ KeyId: keyArn });
  const { PublicKey } = await calling(SERVICE, () => client.send(command));
  if (PublicKey === undefined) throw unexpected('public key');
  const key = createPublicKey({ key: Buffer.from(PublicKey), format: 'der', type: 'spki' });
  return key.export({ format: 'pem', type: 'spki' }).toString();
};
