/** The key that `walkback up` signs calls to a URL with: for trying a tool on this machine. Deployed, an operator derives it. */
import { readSecret } from '../../adapters/aws/secret.ts';
import { endpointKey } from '../../core/saga/tools/http-signature.ts';

export const localKey = async (url: string, environment = process.env): Promise<string> => {
  const secretId = environment['WALKBACK_HTTP_TOOL_SECRET_ARN'];
  if (secretId === undefined) throw new Error('export what `walkback up` printed, then call this again');
  return endpointKey(await readSecret(secretId), url);
};
