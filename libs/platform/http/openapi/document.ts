import { createRequire } from 'node:module';
import type { DiscoveryService } from '@nestjs/core';
import type { Access } from '../access/access.js';
import { errorKind } from '../problems.js';
import { bodyModel } from './body-model.js';
import { INTRODUCTION } from './introduction.js';
import {
  capitalized,
  errorsOf,
  problemDocument,
  problemName,
  problemResponse,
  response,
  ROUTER_RESPONSES,
  SHARED_HEADERS,
} from './responses.js';
import { allRoutes, type Route } from './routes.js';
import { exampleOf, Model, ModelRegistry, type Schema } from './schema.js';

const { version, license } = createRequire(import.meta.url)('#package.json') as Record<'version' | 'license', string>;

const INFO = {
  title: 'Sluice',
  version,
  description: INTRODUCTION,
  contact: { name: 'The operator of this service' },
  license: { name: license, identifier: license },
};

interface DocumentOptions {
  readonly maxBodyBytes: number;
  /** Descriptions of the sections, in their order. */
  readonly sections: Readonly<Record<string, string>>;
  /** Requests that Sluice sends, by name: operations of OpenAPI, in which a model may take the place of any schema. */
  readonly webhooks: Readonly<Record<string, object>>;
  /** Models that are described although nothing refers to them. */
  readonly models: readonly Model[];
}

/** The OpenAPI document of the running server, generated from the decorators of its controllers on first use. */
export class OpenApiDocument {
  private text: string | undefined;

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly options: DocumentOptions,
  ) {}

  json(): string {
    return (this.text ??= JSON.stringify(buildDocument(allRoutes(this.discovery), this.options)));
  }
}

function buildDocument(
  routes: readonly Route[],
  { maxBodyBytes, sections, webhooks, models: more }: DocumentOptions,
): object {
  const responses: Record<string, object> = { ...ROUTER_RESPONSES };
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    (paths[route.path] ??= {})[route.method] = operation(route, maxBodyBytes, responses);
  }
  const used = new Set(routes.map(({ section }) => section));
  const tags = Object.entries(sections).map(([name, description]) => ({ name, description }));
  const models = new ModelRegistry();
  models.resolve([problemDocument(), ...more]);
  return {
    openapi: '3.1.0',
    info: INFO,
    servers: [{ url: '/', description: 'The server that serves this document' }],
    tags: tags.filter(({ name }) => used.has(name)),
    paths: models.resolve(paths),
    webhooks: models.resolve(webhooks),
    components: {
      securitySchemes: securitySchemes(routes),
      responses: models.resolve(responses),
      headers: SHARED_HEADERS,
      schemas: models.schemas,
    },
  };
}

/** @param shared responses that operations refer to, by name; the responses of this operation are added */
function operation(route: Route, maxBodyBytes: number, shared: Record<string, object>): object {
  const { spec, access, body, section } = route;
  const parameters = [
    ...parametersIn('path', spec.path),
    ...parametersIn('query', spec.query),
    ...parametersIn('header', spec.headers),
  ];
  return {
    operationId: spec.id,
    tags: [section],
    summary: spec.summary,
    ...(spec.description !== undefined && { description: spec.description }),
    security: securityOf(access),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: body.required, content: contentOf(bodyModel(body.type)) } }),
    responses: { ...successResponses(route), ...errorResponses(route, maxBodyBytes, shared) },
  };
}

function parametersIn(place: string, schemas: Readonly<Record<string, Schema>> = {}): object[] {
  return Object.entries(schemas).map(([name, schema]) => {
    const { description, ...rest } = schema instanceof Model ? schema.schema : schema;
    return { name, in: place, required: place === 'path', description, schema: rest };
  });
}

function successResponses({ status, spec }: Route): Record<string, object> {
  const { alternatives = {}, ...response } = spec.response;
  const others = Object.entries(alternatives).map(
    ([other, description]) => [other, { ...response, description }] as const,
  );
  const all = [[String(status), response] as const, ...others];
  return Object.fromEntries(all.map(([each, described]) => [each, successResponse(described)]));
}

function successResponse(spec: Route['spec']['response']): object {
  const { description, headers, body, mediaTypes, otherBodies = {}, links } = spec;
  const content = body && {
    ...contentOf(body, mediaTypes),
    ...Object.fromEntries(
      Object.entries(otherBodies).map(([type, schema]) => [type, { schema, example: exampleOf(schema) }]),
    ),
  };
  return {
    ...response(description, headers, content),
    ...(links && { links: Object.fromEntries(links.map((operationId) => [operationId, linkById(operationId)])) }),
  };
}

function linkById(operationId: string): object {
  return { operationId, parameters: { id: '$response.body#/id' } };
}

function contentOf(schema: Schema, mediaTypes: readonly string[] = ['application/json']): Record<string, object> {
  return Object.fromEntries(mediaTypes.map((type) => [type, { schema, example: exampleOf(schema) }]));
}

function errorResponses(route: Route, maxBodyBytes: number, shared: Record<string, object>): Record<string, object> {
  const scope = typeof route.access === 'object' ? route.access.scope : undefined;
  const bodyLimit = Math.min(maxBodyBytes, route.body?.maxBytes ?? 0);
  const details = {
    ...(scope !== undefined && { insufficient_scope: `Use an API key with the scope ${scope}.` }),
    body_too_large: `The body must be at most ${bodyLimit} bytes.`,
  };
  const references: Record<string, object> = {};
  const codes = [...errorsOf(route)];
  for (const status of new Set(codes.map((code) => errorKind(code).status))) {
    const matching = codes.filter((code) => errorKind(code).status === status);
    // These two have details that differ by route.
    const suffix = [
      ...(scope !== undefined && matching.includes('insufficient_scope') ? scope.split(':').map(capitalized) : []),
      ...(matching.includes('body_too_large') ? [bodyLimit] : []),
    ];
    const name = [problemName(matching), ...suffix].join('');
    shared[name] ??= problemResponse(status, matching, details);
    references[status] = { $ref: `#/components/responses/${name}` };
  }
  return references;
}

function securityOf(access: Access): object[] {
  if (access === 'public') return [];
  if (access === 'operator') return [{ operatorsKey: [] }];
  return [{ apiKey: access === 'caller' ? [] : [access.scope] }];
}

function securitySchemes(routes: readonly Route[]): object {
  const apiKey = { type: 'http', scheme: 'bearer', description: 'An API key of an account: `slc_…`' };
  const operatorsKey = {
    type: 'http',
    scheme: 'bearer',
    description: 'The key of an operator, one of `ADMIN_API_KEY`',
  };
  return { apiKey, ...(routes.some(({ access }) => access === 'operator') && { operatorsKey }) };
}
