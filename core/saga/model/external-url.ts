/**
 * The address of an effect at its provider. A value that is no valid address is left out, and the problem is
 * named. Pure.
 */
import type { Json } from '../../../contract/json.ts';
import { isWebAddress, MAX_ADDRESS } from '../../../contract/web-address.ts';
import { clip } from '../../shared/clip.ts';
import type { SagaError } from './ledger-entry.ts';

const MAX_SHOWN = 60;

export const readExternalUrl = (value: Json): string | SagaError =>
  typeof value === 'string' && isWebAddress(value)
    ? value
    : {
        name: 'UrlInvalid',
        message: `the link ${clip(JSON.stringify(value), MAX_SHOWN)} is no https address of at most ${MAX_ADDRESS} characters`,
      };
