/** Seals what a browser stores for us, so that nobody can read it, change it, or use it for another purpose. */
import { hkdfSync } from 'node:crypto';
import { EncryptJWT, jwtDecrypt } from 'jose';

export interface Seal {
  seal(purpose: string, value: Readonly<Record<string, unknown>>, untilMs: number): Promise<string>;
  /** Undefined for text that is not ours, has another purpose, or has expired. */
  open(purpose: string, text: string): Promise<Readonly<Record<string, unknown>> | undefined>;
}

interface Deps {
  /** The deployment's secret. Anyone who has it can be anybody here. */
  secret: () => Promise<string>;
  now?: () => Date;
}

const keyOf = (secret: string, purpose: string): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', secret, 'walkback', `console ${purpose}`, 32));

export const createSeal = ({ secret, now = () => new Date() }: Deps): Seal => ({
  seal: async (purpose, value, untilMs) =>
    new EncryptJWT({ value })
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
      .setExpirationTime(Math.floor(untilMs / 1000))
      .encrypt(keyOf(await secret(), purpose)),
  open: async (purpose, text) => {
    const key = keyOf(await secret(), purpose);
    try {
      const { payload } = await jwtDecrypt<{ value: Record<string, unknown> }>(text, key, {
        keyManagementAlgorithms: ['dir'],
        contentEncryptionAlgorithms: ['A256GCM'],
        requiredClaims: ['exp'],
        currentDate: now(),
      });
      return payload.value;
    } catch {
      return undefined;
    }
  },
});
