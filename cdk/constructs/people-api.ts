/**
 * What people reach with a token or a browser: one HTTP API in front of the functions of the API and of the
 * console.
 */
import { Duration, type RemovalPolicy } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import {
  HttpApi,
  HttpMethod,
  HttpStage,
  type IDomainName,
  LogGroupLogDestination,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpJwtAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { NagSuppressions } from 'cdk-nag';
import { Construct } from 'constructs';
import { API_BASE, GATEWAY_SECONDS, OPENAPI_PATH } from '../../contract/http-api.ts';
import { isForPeople } from '../../contract/people.ts';
import type { DeployedRow } from '../functions.ts';
import type { IdentityProps } from './identity.ts';
import { bindSecret } from './secrets.ts';
import type { WalkbackFunction } from './walkback-function.ts';

/** Options of the HTTP API, which is made only when `identity` is given. */
export interface HttpApiProps {
  /** A domain of yours. AWS's own address then stops answering. Default: AWS's address. */
  domain?: IDomainName;
  /** Requests per second, of all people together. Default: 50. */
  rateLimit?: number;
  /** Requests at once. Default: 100. */
  burstLimit?: number;
}

interface PeopleApiProps extends HttpApiProps {
  namePrefix: string;
  identity: IdentityProps;
  functions: readonly { row: DeployedRow; fn: WalkbackFunction }[];
  logRetention: RetentionDays;
  removalPolicy: RemovalPolicy;
  encryptionKey?: IKey;
}

/**
 * Who asked for what, and how it ended. It contains no header, query or path: those may hold tokens and
 * codes, or anything that a stranger writes.
 */
const LOG_FORMAT = AccessLogFormat.custom(
  JSON.stringify({
    requestId: '$context.requestId',
    time: '$context.requestTime',
    ip: '$context.identity.sourceIp',
    method: '$context.httpMethod',
    route: '$context.routeKey',
    status: '$context.status',
    latency: '$context.responseLatency',
    person: '$context.authorizer.claims.sub',
    authorizerError: '$context.authorizer.error',
    integrationError: '$context.integrationErrorMessage',
  }),
);

export class PeopleApi extends Construct {
  readonly api: HttpApi;
  /** Without a slash at the end. */
  readonly url: string;

  constructor(scope: Construct, id: string, props: PeopleApiProps) {
    super(scope, id);
    const { identity, functions, domain } = props;
    const named = (name: string): WalkbackFunction => {
      const found = functions.find(({ row }) => row.name === name);
      if (found === undefined) throw new Error(`there is no function ${name}`);
      return found.fn;
    };
    this.#bindPeople(props);
    this.#bindConsole(named('console'), props);
    const toConsole = new HttpLambdaIntegration('Console', named('console').fn, {
      timeout: Duration.seconds(GATEWAY_SECONDS),
    });
    const toApi = new HttpLambdaIntegration('Api', named('api').fn, {
      timeout: Duration.seconds(GATEWAY_SECONDS),
    });
    this.api = new HttpApi(this, 'Api', {
      apiName: props.namePrefix,
      description: 'The API and the console of Walkback',
      createDefaultStage: false,
      disableExecuteApiEndpoint: domain !== undefined,
      defaultIntegration: toConsole,
    });
    this.api.addRoutes({
      path: `${API_BASE}/{function+}`,
      methods: [HttpMethod.ANY],
      integration: toApi,
      authorizer: new HttpJwtAuthorizer('People', identity.issuer, { jwtAudience: [identity.audience] }),
      authorizationScopes: [identity.scope ?? 'walkback/act'],
    });
    this.api.addRoutes({ path: OPENAPI_PATH, methods: [HttpMethod.ANY], integration: toApi });
    this.#addStage(props);
    this.url = domain === undefined ? this.api.apiEndpoint : `https://${domain.name}`;
    this.#justify();
  }

  /** Exactly the functions whose rows let people call them. */
  #bindPeople({ functions, namePrefix }: PeopleApiProps): void {
    const callable = functions.filter(({ row }) => isForPeople(row)).map(({ fn }) => fn.fn.functionArn);
    for (const { row, fn } of functions) {
      if (row.grants.servesPeople !== true) continue;
      fn.fn.addEnvironment('WALKBACK_NAME_PREFIX', namePrefix);
      fn.allow(['lambda:InvokeFunction'], callable);
    }
  }

  #bindConsole(fn: WalkbackFunction, { identity, encryptionKey, removalPolicy }: PeopleApiProps): void {
    const secret = new Secret(this, 'ConsoleSecret', {
      description: 'Seals who is signed in to the console. Another value signs everybody out.',
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      removalPolicy,
      ...(encryptionKey && { encryptionKey }),
    });
    bindSecret(fn, 'WALKBACK_CONSOLE_SECRET_ARN', secret);
    fn.fn.addEnvironment('WALKBACK_CONSOLE_CLIENT_ID', identity.clientId ?? identity.audience);
    if (identity.clientSecret !== undefined) {
      bindSecret(fn, 'WALKBACK_CONSOLE_CLIENT_SECRET_ARN', identity.clientSecret);
    }
    NagSuppressions.addResourceSuppressions(secret, [
      {
        id: 'AwsSolutions-SMG4',
        reason: 'It is of nobody else, and another value signs everybody out: that is for people to choose.',
      },
    ]);
  }

  #addStage({ domain, rateLimit = 50, burstLimit = 100, ...logs }: PeopleApiProps): void {
    const logGroup = new LogGroup(this, 'AccessLog', {
      retention: logs.logRetention,
      removalPolicy: logs.removalPolicy,
      ...(logs.encryptionKey && { encryptionKey: logs.encryptionKey }),
    });
    new HttpStage(this, 'Stage', {
      httpApi: this.api,
      stageName: '$default',
      autoDeploy: true,
      throttle: { rateLimit, burstLimit },
      accessLogSettings: { destination: new LogGroupLogDestination(logGroup), format: LOG_FORMAT },
      ...(domain && { domainMapping: { domainName: domain } }),
    });
  }

  #justify(): void {
    NagSuppressions.addResourceSuppressions(
      this.api,
      [
        {
          id: 'AwsSolutions-APIG4',
          reason:
            'The console signs people in itself, so its route lets everybody in as far as that. The document of the API holds nothing of this deployment.',
        },
      ],
      true,
    );
  }
}
