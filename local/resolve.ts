/** Turns CloudFormation's references into the names that the embedded cloud uses. Pure. */
import { WalkbackError } from '../core/shared/errors.ts';
import type { Resource, Template } from './template.ts';

export const REGION = 'us-east-1';
const ACCOUNT = '000000000000';

const PSEUDO: Record<string, string> = {
  'AWS::Region': REGION,
  'AWS::AccountId': ACCOUNT,
  'AWS::Partition': 'aws',
  'AWS::StackName': 'Walkback',
  'AWS::URLSuffix': 'amazonaws.com',
};

const arn = (service: string, rest: string): string => `arn:aws:${service}:${REGION}:${ACCOUNT}:${rest}`;

export const functionArn = (name: string): string => arn('lambda', `function:${name}`);
export const tableArn = (name: string): string => arn('dynamodb', `table/${name}`);

interface Kind {
  /** Property with a name that the template chose. */
  nameProperty: string;
  arn: (name: string) => string;
  /** Ref gives the ARN, not the name. */
  refIsArn?: true;
}

const KINDS: Record<string, Kind> = {
  'AWS::DynamoDB::Table': { nameProperty: 'TableName', arn: tableArn },
  'AWS::S3::Bucket': { nameProperty: 'BucketName', arn: (name) => `arn:aws:s3:::${name}` },
  'AWS::Lambda::Function': { nameProperty: 'FunctionName', arn: functionArn },
  'AWS::Events::EventBus': { nameProperty: 'Name', arn: (name) => arn('events', `event-bus/${name}`) },
  // Keys have no name of their own.
  'AWS::KMS::Key': { nameProperty: 'KeyName', arn: (name) => arn('kms', `key/${name}`) },
  'AWS::SecretsManager::Secret': {
    nameProperty: 'Name',
    arn: (name) => arn('secretsmanager', `secret:${name}`),
    refIsArn: true,
  },
  'AWS::SQS::Queue': { nameProperty: 'QueueName', arn: (name) => arn('sqs', name) },
  'AWS::SNS::Topic': { nameProperty: 'TopicName', arn: (name) => arn('sns', name), refIsArn: true },
  'AWS::StepFunctions::StateMachine': {
    nameProperty: 'StateMachineName',
    arn: (name) => arn('states', `stateMachine:${name}`),
    refIsArn: true,
  },
};

export interface Resolver {
  /** The local name of a resource: the template's, or else one made of its logical id. */
  nameOf(logicalId: string): string;
  arnOf(logicalId: string): string;
  /**
   * A property value with every reference replaced. Throws `ConfigurationError` for one that cannot be
   * replaced.
   */
  value(value: unknown): unknown;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const unsupported = (what: string): WalkbackError =>
  new WalkbackError('ConfigurationError', `the embedded cloud cannot resolve ${what} of the template`);

export const createResolver = (template: Template): Resolver => {
  const find = (logicalId: string): { kind: Kind; resource: Resource } => {
    const resource = template.Resources[logicalId];
    const kind = KINDS[resource?.Type ?? ''];
    if (resource === undefined || kind === undefined) throw unsupported(logicalId);
    return { kind, resource };
  };
  const nameOf = (logicalId: string): string => {
    const { kind, resource } = find(logicalId);
    const given = resource.Properties[kind.nameProperty];
    // Only lower case is a legal name everywhere (S3).
    return given === undefined ? logicalId.toLowerCase() : String(value(given));
  };
  const arnOf = (logicalId: string): string => find(logicalId).kind.arn(nameOf(logicalId));

  const ref = (id: string): string =>
    PSEUDO[id] ?? (find(id).kind.refIsArn === true ? arnOf(id) : nameOf(id));

  const attribute = (logicalId: string, name: string): string => {
    if (name === 'Arn') return arnOf(logicalId);
    if (name === 'StreamArn') return `${arnOf(logicalId)}/stream/local`;
    if (name === 'Name') return nameOf(logicalId);
    throw unsupported(`${logicalId}.${name}`);
  };

  const substitute = (text: string, variables: Record<string, unknown>): string =>
    text.replaceAll(/\$\{([^}!]+)\}/g, (_, name: string) => {
      if (name in variables) return String(value(variables[name]));
      const [logicalId = '', attributeName] = name.split('.');
      return attributeName === undefined ? ref(logicalId) : attribute(logicalId, attributeName);
    });

  const intrinsic = (name: string, argument: unknown): unknown => {
    if (name === 'Ref') return ref(String(argument));
    if (name === 'Fn::GetAtt' && Array.isArray(argument)) {
      return attribute(String(argument[0]), String(argument[1]));
    }
    if (name === 'Fn::Join' && Array.isArray(argument) && Array.isArray(argument[1])) {
      return argument[1].map((part) => String(value(part))).join(String(argument[0]));
    }
    if (name === 'Fn::Sub' && typeof argument === 'string') return substitute(argument, {});
    if (name === 'Fn::Sub' && Array.isArray(argument) && isRecord(argument[1])) {
      return substitute(String(argument[0]), argument[1]);
    }
    throw unsupported(name);
  };

  const value = (input: unknown): unknown => {
    if (Array.isArray(input)) return input.map(value);
    if (!isRecord(input)) return input;
    const entries = Object.entries(input);
    const [only] = entries;
    if (only !== undefined && entries.length === 1 && (only[0] === 'Ref' || only[0].startsWith('Fn::'))) {
      return intrinsic(only[0], only[1]);
    }
    return Object.fromEntries(entries.map(([key, entry]) => [key, value(entry)]));
  };

  return { nameOf, arnOf, value };
};
