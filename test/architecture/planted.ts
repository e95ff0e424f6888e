/** Files by their path, with what is written in them. */
type Files = Readonly<Record<string, string>>;

/** The house in miniature, with all that its rules allow. */
export const MINIATURE: Files = {
  'apps/api/api.module.ts': `
    import '#accounts/adapters/http/api-key.guard.js';
    import '#accounts/index.js';
    import '#messages/messages.module.js';
    import '../../libs/flat/flat.guard.js';
    import '@nestjs/platform-fastify';`,
  'apps/api/main.ts': "import './api.module.js'; import '../context.js'; import '../schema.js';",
  'apps/context.ts': "import '#platform/logging.js';",
  'apps/dev/start.mjs': "await import('../../dist/apps/dev/main.js'); await import('../../dist/not-built-yet.js');",
  'apps/schema.ts': "import 'bullmq';",
  'apps/worker/handlers.ts': "await import('../../examples/post/post.module.js');",
  'apps/worker/main.ts': "import './handlers.js'; await import('#platform/tracing/otlp-tracing.js');",
  'examples/post/post.module.ts': "import '@nestjs/common'; import '#messages/index.js'; import './post.js';",
  'examples/post/post.ts':
    "import '@opentelemetry/api'; import type { MessageHandler } from '#messages/index.js'; export let x: MessageHandler;",
  'bench/baselines/ordinary.ts': "import 'bullmq'; import 'typeorm';",
  'bench/main.ts':
    "import '../apps/schema.js'; import '#kernel/ids.js'; import '#platform/logging.js'; import 'ioredis';",
  'bench/run.mjs': "await import('../dist/bench/main.js');",
  'dist/apps/dev/main.js': "import 'bullmq';",
  'libs/accounts/adapters/http/api-key.guard.ts': "import 'fastify'; import '../../application/sign-up.js';",
  'libs/accounts/application/sign-up.ts': `
    import 'lru-cache';
    import 'node:crypto';
    import '#kernel/ids.js';
    import '../domain/account.js';
    export class SignUp {}`,
  'libs/accounts/domain/account.spec.ts': `
    import 'fast-check';
    import '../../../test/support/builders.js';
    import './account.js';`,
  'libs/accounts/domain/account.ts': "import '#kernel/ids.js';",
  'libs/accounts/index.ts': "export { SignUp } from './application/sign-up.js';",
  'libs/flat/flat.guard.ts': "import '@nestjs/common'; import '#accounts/index.js';",
  'libs/kernel/ids.spec.ts': "import 'fast-check'; import './ids.js';",
  'libs/kernel/ids.ts': "import 'node:crypto';",
  'libs/messages/adapters/bullmq/queue.ts': "import 'bullmq'; import '#platform/logging.js';",
  'libs/messages/adapters/http/messages.controller.ts': "import '#accounts/index.js'; import 'fastify';",
  'libs/messages/adapters/postgres/message.schema.ts': "import 'typeorm';",
  'libs/messages/application/message-handler.ts': 'export abstract class MessageHandler {}',
  'libs/messages/application/send-message.ts': "import '#accounts/index.js';",
  'libs/messages/index.ts': "export { MessageHandler } from './application/message-handler.js';",
  'libs/messages/messages.module.ts': `
    import type { Queue } from 'bullmq';
    import './adapters/bullmq/queue.js';
    import '#platform/management/metrics.js';
    import './adapters/http/messages.controller.js';
    import './application/send-message.js';
    export let queue: Queue;`,
  'libs/platform/database/database.ts': "import 'typeorm';",
  'libs/platform/tracing/otlp-tracing.ts': "import '@opentelemetry/sdk-trace-base';",
  'libs/platform/management/metrics.ts': "import 'prom-client'; import '../database/database.js';",
  'libs/platform/logging.ts': "import 'pino'; import '#kernel/ids.js'; import './database/database.js';",
  'test/support/builders.ts': "import '#messages/application/message-handler.js'; import 'bullmq';",
};

interface Plant {
  readonly rule: string;
  /** Completes "It catches …". */
  readonly what: string;
  readonly files: Files;
}

/** Each breaks one rule, and no other. */
export const PLANTS: readonly Plant[] = [
  {
    rule: 'domain-imports-only-kernel',
    what: 'a package in the domain',
    files: { 'libs/messages/domain/with-package.ts': "import 'lru-cache';" },
  },
  {
    rule: 'domain-imports-only-kernel',
    what: 'a Node module in the domain',
    files: { 'libs/messages/domain/with-node.ts': "import { randomUUID } from 'node:crypto'; randomUUID();" },
  },
  {
    rule: 'domain-imports-only-kernel',
    what: 'the type of a logger in the domain',
    files: { 'libs/messages/domain/with-logger.ts': "export let logger: import('#platform/logging.js').Logger;" },
  },
  {
    rule: 'domain-imports-only-kernel',
    what: 'a use case in the domain',
    files: { 'libs/messages/domain/with-use-case.ts': "import '../application/send-message.js';" },
  },
  {
    rule: 'domain-imports-only-kernel',
    what: 'another context in the domain',
    files: { 'libs/messages/domain/with-context.ts': "import '#accounts/index.js';" },
  },
  {
    rule: 'application-imports-only-inwards',
    what: 'a framework in a use case',
    files: { 'libs/messages/application/with-nest.ts': "import { Injectable } from '@nestjs/common'; Injectable();" },
  },
  {
    rule: 'application-imports-only-inwards',
    what: 'the type of a database driver in a use case',
    files: { 'libs/messages/application/with-pg.ts': "import type { Pool } from 'pg'; export let pool: Pool;" },
  },
  {
    rule: 'application-imports-only-inwards',
    what: 'settings in a use case',
    files: {
      'libs/messages/application/with-settings.ts': "import '#platform/planted-settings.js';",
      'libs/platform/planted-settings.ts': '',
    },
  },
  {
    rule: 'application-imports-only-inwards',
    what: 'an adapter in a use case',
    files: { 'libs/messages/application/with-adapter.ts': "import '../adapters/http/messages.controller.js';" },
  },
  {
    rule: 'application-imports-only-inwards',
    what: 'the index of its own context in a use case',
    files: { 'libs/messages/application/with-index.ts': "import '../index.js';" },
  },
  {
    rule: 'kernel-imports-nothing',
    what: 'a package in the kernel',
    files: { 'libs/kernel/with-package.ts': "import 'lru-cache';" },
  },
  {
    rule: 'kernel-imports-nothing',
    what: 'platform in the kernel',
    files: {
      'libs/kernel/with-platform.ts': "import '#platform/planted-clock.js';",
      'libs/platform/planted-clock.ts': '',
    },
  },
  {
    rule: 'platform-knows-no-context',
    what: 'even the index of a context in platform',
    files: {
      'libs/platform/with-context.ts': "import type { SignUp } from '#accounts/index.js'; export let x: SignUp;",
    },
  },
  {
    rule: 'contexts-meet-at-index',
    what: 'an adapter that imports a use case of another context',
    files: { 'libs/messages/adapters/http/with-use-case.ts': "import '#accounts/application/sign-up.js';" },
  },
  {
    rule: 'contexts-meet-at-index',
    what: 'an adapter that imports an adapter of another context',
    files: { 'libs/messages/adapters/http/with-guard.ts': "import '#accounts/adapters/http/api-key.guard.js';" },
  },
  {
    rule: 'contexts-meet-at-index',
    what: 'wiring that imports the module of another context, by its path',
    files: { 'libs/accounts/planted.module.ts': "import '../messages/messages.module.js';" },
  },
  {
    rule: 'index-publishes-no-adapter',
    what: 'a published adapter',
    files: {
      'libs/planted-adapter/index.ts': "export { A } from './adapters/http/a.js';",
      'libs/planted-adapter/adapters/http/a.ts': 'export class A {}',
    },
  },
  {
    rule: 'index-publishes-no-adapter',
    what: 'a published module',
    files: {
      'libs/planted-module/index.ts': "export { A } from './a.module.js';",
      'libs/planted-module/a.module.ts': 'export class A {}',
    },
  },
  {
    rule: 'adapters-keep-to-one-technology',
    what: 'an HTTP adapter that imports its PostgreSQL neighbour',
    files: { 'libs/messages/adapters/http/with-rows.ts': "import '../postgres/message.schema.js';" },
  },
  {
    rule: 'libs-know-no-app',
    what: 'an adapter that imports an app',
    files: {
      'libs/messages/adapters/http/with-app.ts': "import '../../../../apps/api/planted-app.js';",
      'apps/api/planted-app.ts': '',
    },
  },
  {
    rule: 'apps-mount-contexts-from-outside',
    what: 'a use case that an app imports past the index',
    files: { 'apps/api/with-use-case.ts': "import '#accounts/application/sign-up.js';" },
  },
  {
    rule: 'apps-mount-contexts-from-outside',
    what: 'a repository that an app makes itself',
    files: {
      'apps/worker/with-repository.ts': "import '#messages/adapters/postgres/planted-messages.js';",
      'libs/messages/adapters/postgres/planted-messages.ts': '',
    },
  },
  {
    rule: 'guards-are-mounted-by-the-api',
    what: 'a guard in the worker',
    files: { 'apps/worker/with-guard.ts': "import '#accounts/adapters/http/api-key.guard.js';" },
  },
  {
    rule: 'bullmq-stays-in-its-adapter',
    what: 'the type of a job in the store',
    files: { 'libs/messages/adapters/postgres/with-job.ts': "import type { Job } from 'bullmq'; export let job: Job;" },
  },
  {
    rule: 'bullmq-stays-in-its-adapter',
    what: 'a queue in an app',
    files: { 'apps/worker/with-queue.ts': "const { Queue } = await import('bullmq'); new Queue('');" },
  },
  {
    rule: 'bullmq-is-wired-by-type',
    what: 'a queue made by the module',
    files: { 'libs/messages/planted.module.ts': "import { Queue } from 'bullmq'; new Queue('');" },
  },
  {
    rule: 'typeorm-stays-in-postgres',
    what: 'an operator of TypeORM in a controller',
    files: { 'libs/messages/adapters/http/with-operator.ts': "import { LessThan } from 'typeorm'; LessThan(1);" },
  },
  {
    rule: 'fastify-stays-at-the-edge',
    what: 'a request in the consumer',
    files: {
      'libs/messages/adapters/bullmq/with-request.ts': `
        import type { FastifyRequest } from 'fastify';
        export let request: FastifyRequest;`,
    },
  },
  {
    rule: 'fastify-stays-at-the-edge',
    what: 'the HTTP platform in a module',
    files: { 'libs/accounts/with-edge.module.ts': "import '@nestjs/platform-fastify';" },
  },
  {
    rule: 'handlers-see-what-is-published',
    what: 'a use case in a handler, past the index',
    files: { 'examples/post/with-use-case.ts': "import '#messages/application/send-message.js';" },
  },
  {
    rule: 'handlers-see-what-is-published',
    what: 'the type of a logger in a handler',
    files: { 'examples/post/with-logger.ts': "export let logger: import('#platform/logging.js').Logger;" },
  },
  {
    rule: 'handlers-see-what-is-published',
    what: 'a handler that imports another',
    files: { 'examples/planted-other/with-other.ts': "import '../post/post.js';" },
  },
  {
    rule: 'handlers-are-registered-in-one-place',
    what: 'a handler in another file of the worker',
    files: { 'apps/worker/with-handler.ts': "import '../../examples/post/post.js';" },
  },
  {
    rule: 'opentelemetry-stays-in-tracing',
    what: 'a tracer in an adapter',
    files: {
      'libs/messages/adapters/http/with-tracer.ts': "import { trace } from '@opentelemetry/api'; trace.getTracer('');",
    },
  },
  {
    rule: 'prom-client-stays-in-one-file',
    what: 'a counter of its own in an adapter',
    files: { 'libs/messages/adapters/http/with-counter.ts': "import { Counter } from 'prom-client'; new Counter({});" },
  },
  {
    rule: 'production-knows-no-test',
    what: 'a test builder in an adapter',
    files: { 'libs/messages/adapters/http/with-builder.ts': "import '../../../../test/support/builders.js';" },
  },
  {
    rule: 'production-knows-no-test',
    what: 'a benchmark in an app',
    files: { 'apps/dev/with-bench.ts': "import '../../bench/main.js';" },
  },
  {
    rule: 'bench-measures-from-outside',
    what: 'a use case in a benchmark',
    files: { 'bench/scenarios/with-use-case.ts': "import '#accounts/application/sign-up.js';" },
  },
  {
    rule: 'production-knows-no-test',
    what: 'a spec that production code imports',
    files: {
      'libs/platform/with-spec.ts': "import './planted.spec.js';",
      'libs/platform/planted.spec.ts': '',
    },
  },
  {
    rule: 'production-needs-no-dev-dependency',
    what: 'a development dependency in platform',
    files: { 'libs/platform/with-dev-dependency.ts': "import 'fast-check';" },
  },
  {
    rule: 'packages-are-declared',
    what: 'a package that only came along with another',
    files: { 'libs/platform/with-stowaway.ts': "import 'enhanced-resolve';" },
  },
  {
    rule: 'imports-resolve',
    what: 'an alias that leads nowhere',
    files: { 'libs/platform/with-lost-alias.ts': "import '#kernel/nowhere.js';" },
  },
  {
    rule: 'sources-import-no-build',
    what: 'a built file that a source imports',
    files: { 'libs/platform/with-build.ts': "import '../../dist/planted.js';", 'dist/planted.js': '' },
  },
  {
    rule: 'no-cycles',
    what: 'a cycle, though one of its imports is a type',
    files: {
      'libs/platform/hen.ts': "import type { Egg } from './egg.js'; export class Hen { egg?: Egg }",
      'libs/platform/egg.ts': "import { Hen } from './hen.js'; export class Egg extends Hen {}",
    },
  },
  {
    rule: 'no-orphans',
    what: 'a file that nothing leads to but its own test',
    files: {
      'libs/platform/forgotten.ts': "import '#kernel/ids.js';",
      'libs/platform/forgotten.spec.ts': "import './forgotten.js';",
    },
  },
];
