import { once } from 'node:events';
import { Readable } from 'node:stream';
import type { ExecutionContext } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { BufferBudget } from './buffer-budget.js';
import { JsonBody } from './json-body.js';

class Body {}

class Controller {
  create(@JsonBody(Body) body: Body): Body {
    return body;
  }
}

it('JsonBody rejects a body whose connection was lost before it was read', async () => {
  const raw = new Readable({ read: () => undefined });
  await once(raw.destroy(), 'close');
  const server = { initialConfig: { bodyLimit: 1_024 }, bodies: new BufferBudget(1_024) };
  const request = { raw, server, headers: { 'content-type': 'application/json', 'content-length': '2' } };
  const http = { getRequest: () => request, getResponse: () => ({ raw }) };
  const context = { switchToHttp: () => http } as unknown as ExecutionContext;
  const parameters = Reflect.getMetadata(ROUTE_ARGS_METADATA, Controller, 'create') as object;
  const [{ factory }] = Object.values(parameters) as [{ factory: (data: unknown, of: ExecutionContext) => unknown }];
  await expect(factory(undefined, context)).rejects.toMatchObject({ code: 'malformed_request' });
});
