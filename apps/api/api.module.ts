import { Module, type DynamicModule } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { AccountsModule } from '#accounts/accounts.module.js';
import { AccessGuard } from '#accounts/adapters/http/access.guard.js';
import { ApiKeyGuard } from '#accounts/adapters/http/api-key.guard.js';
import { QueueModule } from '#delivery/queue.module.js';
import { EventsModule } from '#events/events.module.js';
import { MessagesModule } from '#messages/messages.module.js';
import { FallbackController } from '#platform/http/fallback.controller.js';
import { OpenApiDocument } from '#platform/http/openapi/document.js';
import { OpenApiController } from '#platform/http/openapi/openapi.controller.js';
import { DocsController } from '#platform/http/pages/docs.controller.js';
import { ErrorPagesController } from '#platform/http/pages/error-pages.controller.js';
import { ProblemFilter } from '#platform/http/problem.filter.js';
import { RouteTable } from '#platform/http/route-table.js';
import { LOGGER, PlatformModule, type ProcessParts } from '#platform/process/platform.module.js';
import { provideAs } from '#platform/process/provide.js';
import { PlanThrottlerGuard, type Budgets } from '#rate-limiting/adapters/http/plan-throttler.guard.js';
import { PullModule } from '#pull/pull.module.js';
import { RateLimitingModule } from '#rate-limiting/rate-limiting.module.js';
import { UpkeepModule } from '#upkeep/upkeep.module.js';
import { UsageModule } from '#usage/usage.module.js';
import { MESSAGE_WEBHOOK, WEBHOOKS, WebhooksModule } from '#webhooks/webhooks.module.js';
import type { Settings } from '../settings.js';
import { PortalController } from './portal.controller.js';

/** The sections of the OpenAPI document. */
const SECTIONS = {
  Messages: 'Send messages and track their delivery.',
  Leases: 'Pull messages: lease, acknowledge, reject and extend.',
  Account: 'Create an account, and see its plan and usage.',
  Webhooks: 'Endpoints that the messages of the account are posted to.',
  'API keys': 'Create, rotate and revoke the API keys of the account.',
  Operators: "Manage plans and bans. These operations require the operators' key.",
  Reference: 'This document, and pages for people. They require no API key.',
};

/** The HTTP process. It mounts contexts and holds no rules. */
@Module({})
export class ApiModule {
  static of(parts: ProcessParts<Settings>, routes: RouteTable, budgets: Budgets): DynamicModule {
    const { maxBodyBytes } = parts.settings.http;
    const queue = QueueModule.forApi(parts.settings);
    const messages = MessagesModule.forApi(queue);
    const pull = PullModule.forApi(messages);
    const events = EventsModule.forApi();
    const operators = parts.settings.operatorKeys.length > 0;
    const usage = UsageModule.forApi(operators);
    return {
      module: ApiModule,
      imports: [
        PlatformModule.of(parts),
        DiscoveryModule,
        AccountsModule.forApi(operators),
        RateLimitingModule.forApi(operators, budgets, messages),
        messages,
        pull,
        events,
        WebhooksModule.with(messages),
        usage,
        UpkeepModule.of([queue, messages, pull, events, usage]),
      ],
      controllers: [
        OpenApiController,
        DocsController,
        ErrorPagesController,
        ...(parts.settings.portal ? [PortalController] : []),
        FallbackController,
      ],
      providers: [
        { provide: RouteTable, useValue: routes },
        {
          provide: OpenApiDocument,
          useFactory: (discovery: DiscoveryService) =>
            new OpenApiDocument(discovery, {
              maxBodyBytes,
              sections: SECTIONS,
              webhooks: WEBHOOKS,
              models: [MESSAGE_WEBHOOK],
            }),
          inject: [DiscoveryService],
        },
        // In this order: authenticate, count, authorize.
        { provide: APP_GUARD, useExisting: ApiKeyGuard },
        { provide: APP_GUARD, useExisting: PlanThrottlerGuard },
        { provide: APP_GUARD, useExisting: AccessGuard },
        provideAs(APP_FILTER, ProblemFilter, [LOGGER]),
      ],
    };
  }
}
