import { IsArray, IsBoolean, IsInt, IsObject, IsOptional, IsString, Max, Min } from 'class-validator';
import { Field } from '#platform/http/openapi/operation.js';
import { MAX_TYPE, TYPE_PATTERN } from '#messages/index.js';
import { MAX_HEADER_NAME, MAX_HEADER_VALUE, MAX_HEADERS } from '../../domain/endpoint-headers.js';
import { MAX_DESCRIPTION_LENGTH, MAX_RATE_LIMIT, MAX_TYPES, MAX_URL_LENGTH } from '../../domain/endpoint.js';

const URL_FIELD = {
  description:
    'Where messages are posted: `https` or `http`, without user name and password. Its host must be public: requests to ' +
    'private addresses are never sent.',
  examples: ['https://example.com/hooks'],
  maxLength: MAX_URL_LENGTH,
  pattern: '^[Hh][Tt][Tt][Pp][Ss]?:[^\\s#]+$',
};

class EndpointSettings {
  @Field({
    description: `What it is for: at most ${MAX_DESCRIPTION_LENGTH} characters. Null removes it.`,
    type: ['string', 'null'],
    examples: ['orders'],
    maxLength: MAX_DESCRIPTION_LENGTH,
    pattern: '^[^\\u0000]*$',
  })
  @IsOptional()
  @IsString({ message: 'description must be a string.' })
  description?: string | null;

  @Field({ description: 'Whether it gets new messages. A new endpoint does by default.', examples: [true] })
  @IsOptional()
  @IsBoolean({ message: 'enabled must be true or false.' })
  enabled?: boolean | null;

  @Field({
    description: 'The maximum number of requests per second. 0 or null for no limit, the default.',
    type: ['integer', 'null'],
    examples: [100],
  })
  @IsOptional()
  @IsInt({ message: 'rateLimitPerSecond must be a whole number.' })
  @Min(0, { message: 'rateLimitPerSecond must not be negative.' })
  @Max(MAX_RATE_LIMIT, { message: `rateLimitPerSecond must be at most ${MAX_RATE_LIMIT}.` })
  rateLimitPerSecond?: number | null;

  @Field({
    description:
      'Which messages it gets: types like `order.paid`, or `order.*` for every type that begins with `order.`. None or null: ' +
      'all, also those without a type, as `*` does. Operational events only reach endpoints that name them, such as ' +
      '`sluice.message.failed` or `sluice.*`.',
    examples: [['order.*', 'invoice.paid']],
    type: ['array', 'null'],
    maxItems: MAX_TYPES,
    items: { type: 'string', maxLength: MAX_TYPE, pattern: TYPE_PATTERN.source },
  })
  @IsOptional()
  @IsString({ each: true, message: 'types must contain only strings.' })
  @IsArray({ message: 'types must be an array.' })
  types?: string[] | null;

  @Field({
    description:
      'Headers that are sent along, by name. Their values are stored encrypted and never shown. Those that frame or sign ' +
      'the request are not allowed: `host`, `content-*`, `webhook-*`, `connection` and the like. Null removes them.',
    examples: [{ Authorization: 'Bearer a-token-of-yours' }],
    type: ['object', 'null'],
    maxProperties: MAX_HEADERS,
    propertyNames: { minLength: 1, maxLength: MAX_HEADER_NAME },
    additionalProperties: { type: 'string', minLength: 1, maxLength: MAX_HEADER_VALUE },
  })
  @IsOptional()
  @IsObject({ message: 'headers must be an object.' })
  headers?: Record<string, string> | null;
}

export class CreateEndpointBody extends EndpointSettings {
  @Field(URL_FIELD)
  @IsString({ message: 'url must be a string.' })
  url!: string;
}

export class ChangeEndpointBody extends EndpointSettings {
  @Field(URL_FIELD)
  @IsOptional()
  @IsString({ message: 'url must be a string.' })
  url?: string | null;
}
