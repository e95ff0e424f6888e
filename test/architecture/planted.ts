/** Files by path. */
type Files = Readonly<Record<string, string>>;

/** Parses lines such as `libs/kernel/ids.ts  import 'node:crypto';`; lines that are indented further continue them. */
function parseFiles(text: string): Files {
  const files = text.replace(/\n {4,}/g, ' ').matchAll(/^ *(\S+) *(.*)$/gm);
  return Object.fromEntries([...files].map(([, path = '', content = '']) => [path, content]));
}

/** A small repository that uses everything the rules allow. */
export const MINIATURE = parseFiles(`
  apps/api/api.module.ts  import '#accounts/adapters/http/api-key.guard.js'; import '#accounts/index.js'; import '#messages/messages.module.js'; import '#delivery/delivery.module.js';
    import '../../libs/flat/flat.guard.js'; import '@nestjs/platform-fastify';
  apps/api/main.ts  import './api.module.js'; import '../context.js'; import '../schema.js';
  apps/context.ts  import '#platform/observability/logging.js';
  apps/dev/start.mjs  await import('../../dist/apps/dev/main.js'); await import('../../dist/not-built-yet.js');
  apps/schema.ts  import 'bullmq';
  apps/worker/handlers.ts  await import('./handlers/post/post.module.js');
  apps/worker/handlers/post/post.module.ts  import '@nestjs/common'; import '#delivery/index.js'; import './post.js';
  apps/worker/handlers/post/post.ts  import '@opentelemetry/api'; import type { MessageHandler } from '#delivery/index.js'; export let x: MessageHandler;
  apps/worker/main.ts  import './handlers.js'; await import('#platform/observability/tracing/otlp-tracing.js');
  bench/baselines/ordinary.ts  import 'bullmq'; import 'typeorm';
  bench/main.ts  import '../apps/schema.js'; import '#kernel/ids.js'; import '#platform/observability/logging.js'; import 'ioredis';
  bench/run.mjs  await import('../dist/bench/main.js');
  dist/apps/dev/main.js  import 'bullmq';
  libs/accounts/adapters/http/api-key.guard.ts  import 'fastify'; import '../../application/sign-up.js';
  libs/accounts/application/sign-up.ts  import 'lru-cache'; import 'node:crypto'; import '#kernel/ids.js'; import '../domain/account.js'; export class SignUp {}
  libs/accounts/domain/account.spec.ts  import 'fast-check'; import '../../../test/support/builders.js'; import './account.js';
  libs/accounts/domain/account.ts  import '#kernel/ids.js';
  libs/accounts/index.ts  export { SignUp } from './application/sign-up.js';
  libs/delivery/adapters/bullmq/queue.ts  import 'bullmq'; import '#platform/observability/logging.js';
  libs/delivery/adapters/postgres/outbox.sql.ts  import '#messages/adapters/postgres/index.js';
  libs/delivery/application/message-handler.ts  export abstract class MessageHandler {}
  libs/delivery/delivery.module.ts  import type { Queue } from 'bullmq'; import './adapters/bullmq/queue.js'; import './adapters/postgres/outbox.sql.js'; export let queue: Queue;
  libs/delivery/index.ts  export { MessageHandler } from './application/message-handler.js';
  libs/flat/flat.guard.ts  import '@nestjs/common'; import '#accounts/index.js';
  libs/kernel/ids.spec.ts  import 'fast-check'; import './ids.js';
  libs/kernel/ids.ts  import 'node:crypto';
  libs/messages/adapters/http/messages.controller.ts  import '#accounts/index.js'; import 'fastify';
  libs/messages/adapters/postgres/index.ts  export { ROW } from './message.schema.js';
  libs/messages/adapters/postgres/message.schema.ts  import 'typeorm'; export const ROW = '';
  libs/messages/application/send-message.ts  import '#accounts/index.js'; export class SendMessage {}
  libs/messages/index.ts  export { SendMessage } from './application/send-message.js';
  libs/messages/messages.module.ts  import '#platform/observability/metrics.js'; import './adapters/http/messages.controller.js';
    import './application/send-message.js';
  libs/platform/database/database.ts  import 'typeorm';
  libs/platform/observability/tracing/otlp-tracing.ts  import '@opentelemetry/sdk-trace-base';
  libs/platform/observability/metrics.ts  import 'prom-client'; import '../database/database.js';
  libs/platform/observability/logging.ts  import 'pino'; import '#kernel/ids.js'; import '../database/database.js';
  test/support/builders.ts  import '#messages/application/send-message.js'; import 'bullmq';
`);

/** Below each `rule: description`: files that violate this rule and no other; `rule 2: …` violates it twice. */
const VIOLATIONS = `
domain-imports-only-kernel 5: a package, a Node module, the type of a logger, a use case and another context in the domain
  libs/messages/domain/planted.ts  import 'lru-cache'; import { randomUUID } from 'node:crypto'; randomUUID();
    export let logger: import('#platform/observability/logging.js').Logger; import '../application/send-message.js'; import '#accounts/index.js';
application-imports-only-inwards 5: a framework, the type of a database driver, settings, an adapter and its own index in a use case
  libs/messages/application/planted.ts  import { Injectable } from '@nestjs/common'; Injectable(); import type { Pool } from 'pg';
    import '#platform/planted-settings.js'; import '../adapters/http/messages.controller.js'; import '../index.js'; export let pool: Pool;
  libs/platform/planted-settings.ts
client-imports-nothing 3: a package, a Node module and the kernel in the client
  libs/client/planted.ts  import 'lru-cache'; import 'node:crypto'; import '#kernel/ids.js';
kernel-imports-nothing 2: a package and platform in the kernel
  libs/kernel/planted.ts  import 'lru-cache'; import '#platform/planted-clock.js';
  libs/platform/planted-clock.ts
platform-knows-no-context: even the index of a context in platform
  libs/platform/with-context.ts  import type { SignUp } from '#accounts/index.js'; export let x: SignUp;
adapters-meet-at-the-index-of-their-technology 2: an adapter that imports a use case and an adapter of another context
  libs/messages/adapters/http/with-accounts.ts  import '#accounts/application/sign-up.js'; import '#accounts/adapters/http/api-key.guard.js';
adapters-meet-at-the-index-of-their-technology 2: a controller that uses statements of another context, and an adapter past the index
  libs/accounts/adapters/http/with-statements.ts  import '#messages/adapters/postgres/index.js';
  libs/accounts/adapters/postgres/with-schema.ts  import '#messages/adapters/postgres/message.schema.js';
statements-meet-at-the-index-of-postgres: a statement of the queue past the index
  libs/delivery/adapters/bullmq/with-schema.sql.ts  import '#messages/adapters/postgres/index.js'; import '#messages/adapters/postgres/message.schema.js';
contexts-meet-at-index: wiring that imports the module of another context, by its path
  libs/accounts/planted.module.ts  import '../messages/messages.module.js';
index-publishes-no-adapter 2: a published adapter, and a published module
  libs/planted-index/index.ts  export { A } from './adapters/http/a.js'; export { B } from './b.module.js';
  libs/planted-index/adapters/http/a.ts  export class A {}
  libs/planted-index/b.module.ts  export class B {}
adapters-keep-to-one-technology: an HTTP adapter that imports its PostgreSQL neighbour
  libs/messages/adapters/http/with-rows.ts  import '../postgres/message.schema.js';
libs-know-no-app: an adapter that imports an app
  libs/messages/adapters/http/with-app.ts  import '../../../../apps/api/planted-app.js';
  apps/api/planted-app.ts
apps-mount-contexts-from-outside 2: a use case that an app imports past the index, and a repository that it creates
  apps/worker/planted.ts  import '#accounts/application/sign-up.js'; import '#messages/adapters/postgres/planted-messages.js';
  libs/messages/adapters/postgres/planted-messages.ts
guards-are-mounted-by-the-api: a guard in the worker
  apps/worker/with-guard.ts  import '#accounts/adapters/http/api-key.guard.js';
portal-uses-the-client 2: an identifier of the kernel and another library in the portal
  apps/portal/planted.ts  import '#kernel/ids.js'; import 'lru-cache';
portal-is-an-app-of-its-own: a view of the portal in the API
  apps/api/with-portal.ts  import '../portal/planted-view.js';
  apps/portal/planted-view.ts
bullmq-stays-in-its-adapter: the type of a job in the store
  libs/messages/adapters/postgres/with-job.ts  import type { Job } from 'bullmq'; export let job: Job;
bullmq-stays-in-its-adapter: a queue in an app
  apps/worker/with-queue.ts  const { Queue } = await import('bullmq'); new Queue('');
internals-of-bullmq-stay-in-its-adapter: a table of BullMQ in the module
  libs/delivery/with-jobs.module.ts  import './adapters/bullmq/internals/jobs.js';
  libs/delivery/adapters/bullmq/internals/jobs.ts  export let jobs = 1;
bullmq-is-wired-by-type: a queue that the module creates
  libs/delivery/planted.module.ts  import { Queue } from 'bullmq'; new Queue('');
typeorm-stays-in-postgres: an operator of TypeORM in a controller
  libs/messages/adapters/http/with-operator.ts  import { LessThan } from 'typeorm'; LessThan(1);
fastify-stays-at-the-edge 2: the type of a request, and the HTTP platform, in the consumer
  libs/delivery/adapters/bullmq/with-request.ts  import type { FastifyRequest } from 'fastify'; import '@nestjs/platform-fastify';
    export let request: FastifyRequest;
handlers-see-what-is-published 3: a use case past the index, the type of a logger, and another handler
  apps/worker/handlers/planted-other/with-other.ts  import '#messages/application/send-message.js'; import '../post/post.js';
    export let logger: import('#platform/observability/logging.js').Logger;
handlers-are-registered-in-one-place: a handler in another file of the worker
  apps/worker/with-handler.ts  import './handlers/post/post.js';
opentelemetry-stays-in-tracing: a tracer in an adapter
  libs/messages/adapters/http/with-tracer.ts  import { trace } from '@opentelemetry/api'; trace.getTracer('');
commands-use-the-client: a command that logs as the service does
  apps/cli/commands/planted.ts  import '#platform/observability/logging.js';
prom-client-stays-in-one-file: a counter of its own in an adapter
  libs/messages/adapters/http/with-counter.ts  import { Counter } from 'prom-client'; new Counter({});
production-knows-no-test 3: a test builder, a benchmark and a spec that production code imports
  libs/platform/with-test.ts  import '../../test/support/builders.js'; import '../../bench/main.js'; import './planted.spec.js';
  libs/platform/planted.spec.ts
bench-measures-from-outside: a use case in a benchmark
  bench/scenarios/with-use-case.ts  import '#accounts/application/sign-up.js';
production-needs-no-dev-dependency: a development dependency in platform
  libs/platform/with-dev-dependency.ts  import 'fast-check';
packages-are-declared: a package that is only a transitive dependency
  libs/platform/with-transitive.ts  import 'enhanced-resolve';
imports-resolve: an alias that does not resolve
  libs/platform/with-unknown-alias.ts  import '#kernel/nowhere.js';
sources-import-no-build: a built file that a source imports
  libs/platform/with-build.ts  import '../../dist/planted.js';
  dist/planted.js
no-cycles: a cycle, though one of its imports is a type
  libs/platform/hen.ts  import type { Egg } from './egg.js'; export class Hen { egg?: Egg }
  libs/platform/egg.ts  import { Hen } from './hen.js'; export class Egg extends Hen {}
no-orphans: a file that only its own test imports
  libs/platform/forgotten.ts  import '#kernel/ids.js';
  libs/platform/forgotten.spec.ts  import './forgotten.js';
`;

export const PLANTS = VIOLATIONS.trim()
  .split(/\n(?=\S)/)
  .map((plant) => {
    const [, rule = '', times = '1', what = '', files = ''] = /^([\w-]+)(?: (\d))?: (.+)\n([^]*)$/.exec(plant) ?? [];
    return { rule, times: Number(times), what, files: parseFiles(files) };
  });
