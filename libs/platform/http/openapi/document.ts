import type { DiscoveryService } from '@nestjs/core';
import type { ErrorCode } from '#kernel/domain-error.js';
import type { Access } from '../access.js';
import type { DeclaredBody } from '../json-body.js';
import { PROBLEMS } from '../problems.js';
import { EVERYWHERE, OF_BODIES, OF_THE_ROUTER, problemAnswer } from './answers.js';
import { bodyModel } from './body-model.js';
import { Components } from './components.js';
import { INTRODUCTION } from './introduction.js';
import type { OperationSpec, SectionSpec } from './operation.js';
import { allRoutes, type Route } from './routes.js';
import { exampleOf, Model, type Schema } from './schema.js';

/** Of what the document describes; it grows with each change that clients can see. */
const VERSION = '1.0.0';

export interface DocumentOptions {
  readonly maxBodyBytes: number;
  /** The names of sections in their order. */
  readonly sections: readonly string[];
}

/**
 * The OpenAPI document of the running server, read from its controllers: their routes, who may call them, the rules of
 * their bodies and what they say of themselves. Made when it is first asked for.
 */
export class OpenApiDocument {
  private text: string | undefined;

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly options: DocumentOptions,
  ) {}

  /** As JSON. */
  json(): string {
    return (this.text ??= JSON.stringify(this.build()));
  }

  private build(): object {
    const routes = allRoutes(this.discovery);
    const components = new Components();
    for (const [name, answer] of Object.entries(OF_THE_ROUTER)) components.answer(name, answer);
    const paths: Record<string, Record<string, object>> = {};
    for (const route of routes) {
      (paths[route.path] ??= {})[route.method] = operation(route, this.options.maxBodyBytes, components);
    }
    return {
      openapi: '3.1.0',
      info: { title: 'Sluice', version: VERSION, description: INTRODUCTION },
      servers: [{ url: '/', description: 'The server that this document comes from' }],
      tags: this.tags(routes.map(({ section }) => section)),
      paths,
      components: {
        securitySchemes: securitySchemes(routes),
        ...components.all(),
      },
    };
  }

  private tags(sections: readonly SectionSpec[]): object[] {
    const found = new Map(sections.map((section) => [section.name, section]));
    for (const section of sections) if (section.description !== undefined) found.set(section.name, section);
    const rank = ({ name }: SectionSpec) => this.options.sections.indexOf(name) + 1 || Infinity;
    return [...found.values()].sort((a, b) => rank(a) - rank(b));
  }
}

function operation(route: Route, maxBodyBytes: number, components: Components): object {
  const { spec, access, body, section } = route;
  const parameters = [
    ...parametersIn('path', spec.path),
    ...parametersIn('query', spec.query),
    ...parametersIn('header', spec.headers),
  ];
  const responses: Record<string, object> = { [route.status]: components.inline(answerOf(spec)) };
  const codes = [...new Set(problemsOf(route))];
  for (const status of new Set(codes.map((code) => PROBLEMS[code].status).sort((a, b) => a - b))) {
    const met = codes.filter((code) => PROBLEMS[code].status === status);
    const details = {
      ...(typeof access === 'object' && { insufficient_scope: `Use an API key with the scope ${access.scope}.` }),
      body_too_large: `The body must be at most ${maxBodyBytes} bytes.`,
    };
    // One with a detail of its own is none of its namesakes.
    const lacking =
      met.includes('insufficient_scope') && typeof access === 'object' ? [access.scope.replace(':', '-')] : [];
    const name = [status, ...met, ...lacking].join('.');
    responses[status] = components.answer(name, problemAnswer(status, met, details));
  }
  return components.resolve({
    operationId: spec.id,
    tags: [section.name],
    summary: spec.summary,
    ...(spec.description === undefined ? {} : { description: spec.description }),
    security: securityOf(access),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: requestBody(body) }),
    responses,
  }) as object;
}

function parametersIn(place: string, schemas: Readonly<Record<string, Schema>> = {}): object[] {
  return Object.entries(schemas).map(([name, schema]) => {
    const { description, ...rest } = schema instanceof Model ? schema.schema : schema;
    return { name, in: place, required: place === 'path', description, schema: rest };
  });
}

function requestBody({ type, required }: DeclaredBody): object {
  const schema = bodyModel(type);
  return { required, content: { 'application/json': { schema, example: exampleOf(schema) } } };
}

function answerOf({ answer: { description, body, mediaTypes = ['application/json'], headers = {} } }: OperationSpec) {
  if (body === undefined) return { description, headers, content: {} };
  const content = { schema: body, example: exampleOf(body) };
  return { description, headers, content: Object.fromEntries(mediaTypes.map((type) => [type, content])) };
}

/** All errors that a request to this route can meet. */
function problemsOf({ access, body, spec }: Route): ErrorCode[] {
  const reads = spec.query !== undefined || spec.headers !== undefined;
  return [
    ...EVERYWHERE,
    ...(access === 'public' ? [] : (['unauthorized'] as const)),
    ...(typeof access === 'object' ? (['insufficient_scope'] as const) : []),
    ...(body ? OF_BODIES : reads ? (['validation_failed'] as const) : []),
    ...(spec.problems ?? []),
  ];
}

function securityOf(access: Access): object[] {
  if (access === 'public') return [];
  if (access === 'operator') return [{ operatorsKey: [] }];
  return [{ apiKey: access === 'caller' ? [] : [access.scope] }];
}

function securitySchemes(routes: readonly Route[]): object {
  const apiKey = { type: 'http', scheme: 'bearer', description: 'An API key of an account: `slc_…`' };
  const operatorsKey = { type: 'http', scheme: 'bearer', description: 'The key of the operators, `ADMIN_API_KEY`' };
  return { apiKey, ...(routes.some(({ access }) => access === 'operator') && { operatorsKey }) };
}
