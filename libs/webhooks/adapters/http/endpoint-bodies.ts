import { IsBoolean, IsInt, IsOptional, IsString, Max, Min } from 'class-validator';
import { Field } from '#platform/http/openapi/operation.js';
import { MAX_DESCRIPTION_LENGTH, MAX_RATE_LIMIT, MAX_URL_LENGTH } from '../../domain/endpoint.js';

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
    description: `What it is for: at most ${MAX_DESCRIPTION_LENGTH} characters.`,
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
    description: 'The maximum number of requests per second. 0 for no limit, the default.',
    examples: [100],
  })
  @IsOptional()
  @IsInt({ message: 'rateLimitPerSecond must be a whole number.' })
  @Min(0, { message: 'rateLimitPerSecond must not be negative.' })
  @Max(MAX_RATE_LIMIT, { message: `rateLimitPerSecond must be at most ${MAX_RATE_LIMIT}.` })
  rateLimitPerSecond?: number | null;
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
