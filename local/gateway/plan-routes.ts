/** Reads the routes of the HTTP API from the template. Pure. */
import * as z from 'zod';
import type { Resolver } from '../resolve.ts';
import type { Template } from '../template.ts';

export interface RoutePlan {
  /** `POST /path`, `ANY /path/{rest+}` or `$default`. */
  key: string;
  functionName: string;
  timeoutMs: number;
  /** Absent: the route is open to everybody. */
  authorizer?: { audience: string[]; scopes: string[] };
}

const reference = z.object({ Ref: z.string() });

const routeSchema = z.object({
  RouteKey: z.string(),
  AuthorizationType: z.enum(['NONE', 'JWT']),
  AuthorizationScopes: z.array(z.string()).default([]),
  AuthorizerId: reference.optional(),
  Target: z.object({
    'Fn::Join': z.tuple([z.literal(''), z.tuple([z.literal('integrations/'), reference])]),
  }),
});

const integrationSchema = z.object({
  IntegrationType: z.literal('AWS_PROXY'),
  PayloadFormatVersion: z.literal('2.0'),
  TimeoutInMillis: z.number().int().positive().default(30_000),
  IntegrationUri: z.string(),
});

/** The template's issuer is not read: here it is that of the embedded cloud. */
const authorizerSchema = z.object({
  AuthorizerType: z.literal('JWT'),
  IdentitySource: z.tuple([z.literal('$request.header.Authorization')]),
  JwtConfiguration: z.object({ Audience: z.array(z.string()).min(1) }),
});

const functionOf = (arn: string): string => /:function:([^:]+)$/.exec(arn)?.[1] ?? arn;

export const planRoutes = (template: Template, resolver: Resolver): RoutePlan[] => {
  const propertiesOf = (logicalId: string) => template.Resources[logicalId]?.Properties ?? {};
  return Object.values(template.Resources)
    .filter(({ Type }) => Type === 'AWS::ApiGatewayV2::Route')
    .map(({ Properties }) => {
      const route = routeSchema.parse(Properties);
      const target = propertiesOf(route.Target['Fn::Join'][1][1].Ref);
      const uri = resolver.value(target['IntegrationUri']);
      const integration = integrationSchema.parse({ ...target, IntegrationUri: uri });
      const plan = {
        key: route.RouteKey,
        functionName: functionOf(integration.IntegrationUri),
        timeoutMs: integration.TimeoutInMillis,
      };
      if (route.AuthorizationType === 'NONE') return plan;
      const authorizer = authorizerSchema.parse(propertiesOf(route.AuthorizerId?.Ref ?? ''));
      const { Audience: audience } = authorizer.JwtConfiguration;
      return { ...plan, authorizer: { audience, scopes: route.AuthorizationScopes } };
    });
};

export interface Matched {
  route: RoutePlan;
  parameters: Record<string, string>;
}

/** How well a route fits: an exact one before a greedy one before `$default`, and a method before ANY. */
const fit = (route: RoutePlan, method: string, path: string): (Matched & { rank: number }) | undefined => {
  if (route.key === '$default') return { route, parameters: {}, rank: 0 };
  const [verb = '', pattern = ''] = route.key.split(' ');
  if (verb !== 'ANY' && verb !== method) return undefined;
  const byMethod = verb === 'ANY' ? 0 : 1;
  const [, base, name] = /^(.*\/)\{(\w+)\+\}$/.exec(pattern) ?? [];
  if (base !== undefined && name !== undefined) {
    const isBelow = path.startsWith(base) && path.length > base.length;
    return isBelow
      ? { route, parameters: { [name]: path.slice(base.length) }, rank: 2 + byMethod }
      : undefined;
  }
  return pattern === path ? { route, parameters: {}, rank: 4 + byMethod } : undefined;
};

/** `path`: the decoded path. */
export const matchRoute = (routes: readonly RoutePlan[], method: string, path: string): Matched | undefined =>
  routes
    .flatMap((route) => fit(route, method, path) ?? [])
    .sort((one, other) => other.rank - one.rank)
    .at(0);
