/** The refund saga's tools as one Lambda function, `walkback-tool-refund`. */
import { createTombstones } from '../../adapters/aws/sagas/saga-tombstones.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import { toolHandler } from '../../kit/handler.ts';
import { servedRefundTools } from './catalog.ts';
import { servicesAt } from './tools/services.ts';

const required = (name: string): string => {
  const value = process.env[name];
  if (value !== undefined && value !== '') return value;
  throw new WalkbackError('ConfigurationError', `The environment variable ${name} is not set.`, {
    details: { name },
  });
};

const serve = () =>
  toolHandler(
    servedRefundTools(servicesAt(required('REFUND_SERVICES_URL'), required('REFUND_STRIPE_KEY'), fetch)),
    { tombstones: createTombstones({ sagasTable: required('WALKBACK_SAGAS_TABLE') }) },
  );

let served: ReturnType<typeof serve> | undefined;

export const handler: ReturnType<typeof toolHandler> = (...call) => (served ??= serve())(...call);
