import { Controller, Get, Header } from '@nestjs/common';
import { Public } from '../access/access.js';
import { OpenApiDocument } from './document.js';
import { Operation, Section } from './operation.js';

@Section('Reference')
@Public()
@Controller()
export class OpenApiController {
  constructor(private readonly document: OpenApiDocument) {}

  @Get('openapi.json')
  @Header('content-type', 'application/json; charset=utf-8')
  @Operation({
    id: 'getOpenApiDocument',
    summary: 'Get this document',
    description: 'Returns the OpenAPI 3.1 document of the running server.',
    response: {
      description: 'The document.',
      body: { type: 'object', additionalProperties: true, examples: [{ openapi: '3.1.0' }] },
    },
  })
  get(): string {
    return this.document.json();
  }
}
