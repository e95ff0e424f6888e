/** Every folder of libs/ is a context except these two, which all contexts share. */
const CONTEXT = '^libs/(?!kernel/|platform/)[^/]+/';
const SPEC = '\\.spec\\.ts$';
const STATEMENT = '\\.sql\\.ts$';

/** What is used without being imported: processes, commands, static files, and what a context publishes. */
const ENTRY_POINTS = [
  '^apps/[^/]+/main\\.ts$',
  '^apps/cli/(health|packaged)\\.ts$',
  '^apps/dev/start\\.mjs$',
  '^libs/platform/http/pages/assets/',
  '^apps/portal/((operators/)?main\\.tsx|vite\\.config\\.mjs)$',
  `${CONTEXT}index\\.ts$`,
  `${CONTEXT}adapters/[^/]+/index\\.ts$`,
];

/** What works only as it is bundled, with its packages. */
const BUNDLED = ['^apps/portal/', '^apps/cli/mcp/'];

/** What an app may import of a context besides its index and module; see the rules below. */
const GUARDS = `${CONTEXT}.*\\.guard\\.ts$`;

/** Programs of the same packages that the benchmark compares Sluice with. */
const BASELINES = '^bench/baselines/';

/** Rules that a statement repeats, and that a property test compares with it. */
const RULES_IN_SQL = ['^libs/webhooks/domain/message-outcome\\.ts$'];

/** They start the build, which may not exist yet. */
const STARTERS = ['^apps/dev/start\\.mjs$', '^bench/run\\.mjs$'];

/** Packages that a use case may need, since they bring no technology with them. */
const APPLICATION_PACKAGES = ['node_modules/lru-cache/'];

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'domain-imports-only-kernel',
      severity: 'error',
      comment: 'The rules of the product are independent of technology: no package, no Node module.',
      from: { path: '^libs/([^/]+)/domain/', pathNot: SPEC },
      to: { pathNot: ['^libs/$1/domain/', '^libs/kernel/'] },
    },
    {
      name: 'application-imports-only-inwards',
      severity: 'error',
      comment:
        'A use case names what it needs as a port. Framework, store, queue and settings are plugged in from outside, ' +
        'so that each can be exchanged without touching it.',
      from: { path: '^libs/([^/]+)/application/', pathNot: SPEC },
      to: {
        pathNot: [
          '^libs/$1/(application|domain)/',
          '^libs/kernel/',
          '^libs/(?!kernel/|platform/|$1/)[^/]+/index\\.ts$',
          ...APPLICATION_PACKAGES,
        ],
        dependencyTypesNot: ['core'],
      },
    },
    {
      name: 'kernel-imports-nothing',
      severity: 'error',
      comment: 'Every context depends on the kernel, so the domain would import whatever the kernel imports.',
      from: { path: '^libs/kernel/', pathNot: SPEC },
      to: { pathNot: '^libs/kernel/', dependencyTypesNot: ['core'] },
    },
    {
      name: 'platform-knows-no-context',
      severity: 'error',
      comment: 'Platform is technical: contexts use it, never the other way round.',
      from: { path: '^libs/platform/' },
      to: { path: CONTEXT },
    },
    {
      name: 'client-imports-nothing',
      severity: 'error',
      comment: 'It is a package of its own, without dependencies, that also runs in browsers.',
      from: { path: '^libs/client/', pathNot: SPEC },
      to: { pathNot: '^libs/client/' },
    },
    {
      name: 'contexts-meet-at-index',
      severity: 'error',
      comment: 'What a context does not publish in its index.ts may change at any time.',
      from: { path: '^libs/(?!kernel/|platform/)([^/]+)/(?!adapters/)', pathNot: SPEC },
      to: { path: '^libs/(?!kernel/|platform/|$1/)[^/]+/', pathNot: '^libs/[^/]+/index\\.ts$' },
    },
    {
      name: 'adapters-meet-at-the-index-of-their-technology',
      severity: 'error',
      comment:
        'A statement may be composed with those of another context, and a view with its views: with what its adapters of ' +
        'the same technology publish, besides the index of the context.',
      from: { path: '^libs/(?!kernel/|platform/)([^/]+)/adapters/([^/]+)/', pathNot: [SPEC, STATEMENT] },
      to: {
        path: '^libs/(?!kernel/|platform/|$1/)[^/]+/',
        pathNot: ['^libs/[^/]+/index\\.ts$', '^libs/[^/]+/adapters/$2/index\\.ts$'],
      },
    },
    {
      name: 'statements-meet-at-the-index-of-postgres',
      severity: 'error',
      comment:
        'A statement is SQL in whatever adapter it stands, and composed of what other contexts publish of theirs.',
      from: { path: '^libs/(?!kernel/|platform/)([^/]+)/adapters/.*\\.sql\\.ts$' },
      to: {
        path: '^libs/(?!kernel/|platform/|$1/)[^/]+/',
        pathNot: ['^libs/[^/]+/index\\.ts$', '^libs/[^/]+/adapters/postgres/index\\.ts$'],
      },
    },
    {
      name: 'index-publishes-no-adapter',
      severity: 'error',
      comment: 'An adapter can be replaced only if nothing but the module imports it. The module is for apps only.',
      from: { path: '^libs/([^/]+)/index\\.ts$' },
      to: { path: ['^libs/$1/adapters/', '^libs/$1/[^/]+\\.module\\.ts$'] },
    },
    {
      name: 'adapters-keep-to-one-technology',
      severity: 'error',
      comment: 'Adapters meet at a port. One that imports its neighbour cannot be replaced alone.',
      from: { path: '^libs/([^/]+)/adapters/([^/]+)/' },
      to: { path: '^libs/$1/adapters/(?!$2/)[^/]+/' },
    },
    {
      name: 'libs-know-no-app',
      severity: 'error',
      comment: 'A process is composed of contexts; a context runs in any process.',
      from: { path: '^libs/' },
      to: { path: '^apps/' },
    },
    {
      name: 'apps-mount-contexts-from-outside',
      severity: 'error',
      comment:
        'Apps contain no rules: they import the index and module of a context, the settings and errors that they compose, ' +
        'and what the next rules name.',
      from: { path: '^apps/', pathNot: '^apps/worker/handlers/' },
      to: {
        path: CONTEXT,
        pathNot: [`${CONTEXT}(index|errors|settings)\\.ts$`, `${CONTEXT}[^/]+\\.module\\.ts$`, GUARDS],
      },
    },
    {
      name: 'guards-are-mounted-by-the-api',
      severity: 'error',
      comment: 'Access is decided at the HTTP edge, which no other process has.',
      from: { path: '^apps/', pathNot: '^apps/api/' },
      to: { path: GUARDS },
    },
    {
      name: 'commands-use-the-client',
      severity: 'error',
      comment: 'There is one client of the API. Only the commands that check the guarantees load parts of the service.',
      from: { path: '^apps/cli/(batch|commands|support)/', pathNot: SPEC },
      to: { path: '^libs/(?!client/)' },
    },
    {
      name: 'portal-uses-the-client',
      severity: 'error',
      comment:
        'The portal runs in browsers and calls the API like any other client. Its packages become part of its files.',
      from: { path: '^apps/portal/.*\\.tsx?$' },
      to: { pathNot: ['^apps/portal/', '^libs/client/', 'node_modules/@?preact/'] },
    },
    {
      name: 'portal-is-an-app-of-its-own',
      severity: 'error',
      comment: 'Vite builds the portal; the programs only serve its files.',
      from: { pathNot: '^apps/portal/' },
      to: { path: '^apps/portal/' },
    },
    {
      name: 'bullmq-stays-in-its-adapter',
      severity: 'error',
      comment: 'The queue is a technology behind a port. The exception: its schema is migrated with ours.',
      from: {
        pathNot: [
          '^libs/delivery/adapters/bullmq/',
          '^libs/delivery/[^/]+\\.module\\.ts$',
          '^apps/schema\\.ts$',
          BASELINES,
        ],
      },
      to: { path: 'node_modules/bullmq/' },
    },
    {
      name: 'bullmq-is-wired-by-type',
      severity: 'error',
      comment: 'The module may name types of BullMQ; only the adapter creates and uses queues.',
      from: { path: '^libs/delivery/[^/]+\\.module\\.ts$' },
      to: { path: 'node_modules/bullmq/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'internals-of-bullmq-stay-in-its-adapter',
      severity: 'error',
      comment: 'What knows the tables, keys and scripts of BullMQ is replaced with its version.',
      from: { pathNot: ['^libs/delivery/adapters/bullmq/', '^test/'] },
      to: { path: '^libs/delivery/adapters/bullmq/internals/' },
    },
    {
      name: 'typeorm-stays-in-postgres',
      severity: 'error',
      comment: 'Only the adapters that read and write rows know how rows are mapped.',
      from: { pathNot: ['^libs/[^/]+/adapters/postgres/', '^libs/platform/database/', BASELINES] },
      to: { path: 'node_modules/typeorm/' },
    },
    {
      name: 'fastify-stays-at-the-edge',
      severity: 'error',
      comment: 'Only HTTP adapters know that a call came over HTTP.',
      from: { path: '^libs/', pathNot: ['^libs/[^/]+/adapters/http/', '^libs/platform/'] },
      to: { path: 'node_modules/(@?fastify|@nestjs/platform-fastify)/' },
    },
    {
      name: 'handlers-see-what-is-published',
      severity: 'error',
      comment: 'Handlers are written by others: whatever they need belongs into the index of delivery.',
      from: { path: '^apps/worker/handlers/([^/]+)/', pathNot: SPEC },
      to: { path: '^(apps|libs)/', pathNot: ['^libs/delivery/index\\.ts$', '^apps/worker/handlers/$1/'] },
    },
    {
      name: 'handlers-are-registered-in-one-place',
      severity: 'error',
      comment: 'A handler is loaded when it is chosen; no other part of the program imports it.',
      from: { path: '^(apps|libs)/', pathNot: ['^apps/worker/handlers\\.ts$', '^apps/worker/handlers/'] },
      to: { path: '^apps/worker/handlers/' },
    },
    {
      name: 'opentelemetry-stays-in-tracing',
      severity: 'error',
      comment: 'The SDK is loaded only if a collector is set. Handlers may use its API as well.',
      from: { pathNot: ['^libs/platform/observability/tracing/', '^apps/worker/'] },
      to: { path: 'node_modules/@opentelemetry/' },
    },
    {
      name: 'prom-client-stays-in-one-file',
      severity: 'error',
      comment: 'The library for metrics is one decision: everything else uses the interface of this file.',
      from: { pathNot: ['^libs/platform/observability/metrics\\.ts$', SPEC] },
      to: { path: 'node_modules/prom-client/' },
    },
    {
      name: 'production-knows-no-test',
      severity: 'error',
      comment: 'Tests and benchmarks are not part of the build.',
      from: { path: '^(apps|libs)/', pathNot: SPEC },
      to: { path: ['^(test|bench)/', SPEC] },
    },
    {
      name: 'bench-measures-from-outside',
      severity: 'error',
      comment:
        'The benchmark measures what users start and call, so that an internal change needs no change of it. ' +
        'It creates only API keys itself, because it needs more than it could sign up for.',
      from: { path: '^bench/' },
      to: { path: CONTEXT, pathNot: '^libs/accounts/application/key-secrets\\.ts$' },
    },
    {
      name: 'production-needs-no-dev-dependency',
      severity: 'error',
      comment: 'An installation without devDependencies must run.',
      from: { path: '^(apps|libs)/', pathNot: [SPEC, ...BUNDLED] },
      to: { dependencyTypes: ['npm-dev'] },
    },
    {
      name: 'packages-are-declared',
      severity: 'error',
      comment: 'A package that only others depend on disappears when they no longer need it.',
      from: { path: '^(apps|libs)/' },
      to: { dependencyTypes: ['npm-no-pkg'] },
    },
    {
      name: 'imports-resolve',
      severity: 'error',
      comment: 'No other rule sees an import that cannot be resolved.',
      from: { pathNot: STARTERS },
      to: { couldNotResolve: true },
    },
    {
      name: 'sources-import-no-build',
      severity: 'error',
      comment: 'No other rule sees an import that resolves to dist/ instead of the sources.',
      from: { pathNot: STARTERS },
      to: { path: '^dist/' },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      comment: 'Files in a cycle can only be understood, tested and moved together; types count.',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      severity: 'error',
      comment: 'A file that no process, command or index.ts imports is dead, even if it has a test.',
      from: { path: ENTRY_POINTS },
      to: { path: '^(apps|libs)/', pathNot: [...ENTRY_POINTS, ...RULES_IN_SQL, SPEC], reachable: false },
    },
  ],
  options: {
    doNotFollow: { path: ['node_modules', '^dist/', '^test/'] },
    // Importing a type of another context is a dependency like importing a value.
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      // With "development", aliases such as #kernel/ids.js resolve to the sources instead of the build.
      conditionNames: ['development', 'import', 'node'],
    },
  },
};
