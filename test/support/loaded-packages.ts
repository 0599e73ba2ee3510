/**
 * The npm packages that importing a function may load, because of what it is granted. All others are loaded with `import()`
 * by the calls that need them, or not at all.
 */
import type { DeployedRow } from '../../cdk/functions.ts';

type Grant = keyof DeployedRow['grants'];

const ALWAYS = [
  '@aws-lambda-powertools/commons',
  '@aws-lambda-powertools/logger',
  '@aws-lambda-powertools/metrics',
  '@aws-sdk/core',
  '@aws-sdk/credential-provider-env',
  '@aws-sdk/credential-provider-node',
  '@aws-sdk/xml-builder',
  '@aws/lambda-invoke-store',
  '@smithy/core',
  '@smithy/node-http-handler',
  '@smithy/signature-v4',
  '@smithy/types',
  'lru-cache',
  'p-limit',
  'yocto-queue',
  'zod',
];

const DYNAMODB = [
  '@aws-sdk/client-dynamodb',
  '@aws-sdk/dynamodb-codec',
  '@aws-sdk/endpoint-cache',
  '@aws-sdk/lib-dynamodb',
  '@aws-sdk/middleware-endpoint-discovery',
  '@aws-sdk/util-dynamodb',
  'mnemonist',
  'obliterator',
];

const S3 = [
  '@aws-sdk/checksums',
  '@aws-sdk/client-s3',
  '@aws-sdk/middleware-sdk-s3',
  '@aws-sdk/s3-request-presigner',
  '@aws-sdk/signature-v4-multi-region',
];

/** What checks arguments by their schemas, and reads expressions. */
const PLANS = ['ajv', 'fast-deep-equal', 'fast-uri', 'json-schema-traverse', 'jsonata'];

const GRANTED: Partial<Record<Grant, readonly string[]>> = {
  sessions: DYNAMODB,
  listsSessions: DYNAMODB,
  keepsCalls: DYNAMODB,
  sagas: DYNAMODB,
  permits: DYNAMODB,
  ledger: DYNAMODB,
  indexes: DYNAMODB,
  // Their tombstones.
  servesTools: DYNAMODB,
  httpTool: [...DYNAMODB, '@aws-sdk/client-secrets-manager'],
  bucket: S3,
  exportsLedger: S3,
  anchors: [...S3, '@aws-sdk/client-kms'],
  sandbox: ['@aws-sdk/client-secrets-manager'],
  publishesEvents: ['@aws-sdk/client-eventbridge', '@aws-sdk/signature-v4-multi-region'],
  engine: ['@aws-sdk/client-sfn'],
  callsTools: ['@aws-sdk/client-lambda'],
  looksAtTools: ['@aws-sdk/client-lambda'],
  servesPeople: ['@aws-sdk/client-lambda', 'hono'],
  signsPeopleIn: [
    ...DYNAMODB,
    '@aws-sdk/client-secrets-manager',
    // Its pages.
    'diff',
    'highlight.js',
    'jose',
    'oauth4webapi',
    'openid-client',
  ],
};

/** Functions that take plans, or drive sagas by them. */
const PLANNING = [
  'advance-saga',
  'call-tool',
  'list-catalog',
  'put-catalog',
  'rewind',
  'start-saga',
  'submit-step',
];

export const loadablePackages = ({ name, grants }: DeployedRow): string[] => [
  ...ALWAYS,
  ...Object.entries(GRANTED).flatMap(([grant, packages]) => (grant in grants ? packages : [])),
  ...(PLANNING.includes(name) ? PLANS : []),
];
