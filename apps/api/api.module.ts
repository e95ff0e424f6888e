import { Module, type DynamicModule } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, Reflector } from '@nestjs/core';
import { AuthenticateCaller } from '#accounts/index.js';
import { AccountsModule } from '#accounts/accounts.module.js';
import { ApiKeyGuard } from '#accounts/adapters/http/api-key.guard.js';
import { MessagesModule } from '#messages/messages.module.js';
import { FallbackController } from '#platform/http/fallback.controller.js';
import { ProblemFilter } from '#platform/http/problem.filter.js';
import { RouteTable } from '#platform/http/route-table.js';
import type { Logger } from '#platform/logging.js';
import { LOGGER, PlatformModule, type ProcessParts } from '#platform/platform.module.js';

/** The HTTP process. It mounts contexts and holds no rules. Guards run in the order in which they stand here. */
@Module({})
export class ApiModule {
  static of(parts: ProcessParts, routes: RouteTable): DynamicModule {
    return {
      module: ApiModule,
      imports: [PlatformModule.of(parts), AccountsModule, MessagesModule.forApi()],
      controllers: [FallbackController],
      providers: [
        { provide: RouteTable, useValue: routes },
        {
          provide: APP_GUARD,
          useFactory: (reflector: Reflector, authenticate: AuthenticateCaller) =>
            new ApiKeyGuard(reflector, authenticate),
          inject: [Reflector, AuthenticateCaller],
        },
        { provide: APP_FILTER, useFactory: (logger: Logger) => new ProblemFilter(logger), inject: [LOGGER] },
      ],
    };
  }
}
