/** Every folder of libs/ is a context but these two, which all contexts share. */
const CONTEXT = '^libs/(?!kernel/|platform/)[^/]+/';
const SPEC = '\\.spec\\.ts$';

/** What is used without being imported: processes, commands, static files, and what a context publishes. */
const ENTRY_POINTS = [
  '^apps/[^/]+/main\\.ts$',
  '^apps/cli/[^/]+\\.ts$',
  '^apps/dev/start\\.mjs$',
  '^libs/platform/http/pages/assets/',
  '^examples/bare-worker/',
  `${CONTEXT}index\\.ts$`,
];

/** What an app mounts besides a context's index and module. A rule below says for each which app may. */
const GUARDS = `${CONTEXT}.*\\.guard\\.ts$`;

/** What others build of the same packages, to be compared with. */
const BASELINES = '^bench/baselines/';

/** They start the build, which may not be there yet. */
const STARTERS = ['^apps/dev/start\\.mjs$', '^bench/run\\.mjs$'];

/** Packages that a use case may need, since they bring no technology with them. */
const APPLICATION_PACKAGES = ['node_modules/lru-cache/'];

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'domain-imports-only-kernel',
      severity: 'error',
      comment: 'Rules of the product are read, tested and kept without any technology: no package, no Node module.',
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
      comment: 'Every context depends on the kernel, so all that it imports would be imported by the domain.',
      from: { path: '^libs/kernel/', pathNot: SPEC },
      to: { pathNot: '^libs/kernel/', dependencyTypesNot: ['core'] },
    },
    {
      name: 'platform-knows-no-context',
      severity: 'error',
      comment: "Platform is technical and nobody's rule: a context uses it, never the other way round.",
      from: { path: '^libs/platform/' },
      to: { path: CONTEXT },
    },
    {
      name: 'contexts-meet-at-index',
      severity: 'error',
      comment: 'What a context does not publish in its index.ts may change without asking anybody.',
      from: { path: '^libs/(?!kernel/|platform/)([^/]+)/' },
      to: { path: '^libs/(?!kernel/|platform/|$1/)[^/]+/', pathNot: '^libs/[^/]+/index\\.ts$' },
    },
    {
      name: 'index-publishes-no-adapter',
      severity: 'error',
      comment: 'An adapter is exchanged per profile; who imports it is tied to one. The module is for apps alone.',
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
      comment: 'Apps hold no rules: they take a context by its index and module, and mount what the next rules name.',
      from: { path: '^apps/' },
      to: {
        path: CONTEXT,
        pathNot: [`${CONTEXT}index\\.ts$`, `${CONTEXT}[^/]+\\.module\\.ts$`, GUARDS],
      },
    },
    {
      name: 'guards-are-mounted-by-the-api',
      severity: 'error',
      comment: 'Who may pass is decided at the HTTP edge, and no other process has one.',
      from: { path: '^apps/', pathNot: '^apps/api/' },
      to: { path: GUARDS },
    },
    {
      name: 'bullmq-stays-in-its-adapter',
      severity: 'error',
      comment:
        'The queue is a delivery technology behind a port. Only its schema is made together with ours, and a worker without Sluice has nothing else.',
      from: {
        pathNot: [
          '^libs/messages/adapters/bullmq/',
          '^libs/messages/[^/]+\\.module\\.ts$',
          '^apps/schema\\.ts$',
          '^examples/bare-worker/',
          BASELINES,
        ],
      },
      to: { path: 'node_modules/bullmq/' },
    },
    {
      name: 'bullmq-is-wired-by-type',
      severity: 'error',
      comment: 'The module names what it hands over; what makes and drives a queue is in the adapter.',
      from: { path: '^libs/messages/[^/]+\\.module\\.ts$' },
      to: { path: 'node_modules/bullmq/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'typeorm-stays-in-postgres',
      severity: 'error',
      comment: 'How rows are mapped is known where rows are read and written.',
      from: { pathNot: ['^libs/[^/]+/adapters/postgres/', '^libs/platform/database/', BASELINES] },
      to: { path: 'node_modules/typeorm/' },
    },
    {
      name: 'fastify-stays-at-the-edge',
      severity: 'error',
      comment: 'Beyond the HTTP adapters nobody can tell that a call came by HTTP.',
      from: { path: '^libs/', pathNot: ['^libs/[^/]+/adapters/http/', '^libs/platform/'] },
      to: { path: 'node_modules/(@?fastify|@nestjs/platform-fastify)/' },
    },
    {
      name: 'handlers-see-what-is-published',
      severity: 'error',
      comment: 'Handlers are written by others: what one needs beyond the index of messages is missing there.',
      from: { path: '^examples/([^/]+)/', pathNot: SPEC },
      to: { path: '^(apps|libs|examples)/', pathNot: ['^libs/messages/index\\.ts$', '^examples/$1/'] },
    },
    {
      name: 'handlers-are-registered-in-one-place',
      severity: 'error',
      comment: 'A handler is loaded when it is chosen; no other part of the program knows that it is there.',
      from: { path: '^(apps|libs)/', pathNot: '^apps/worker/handlers\\.ts$' },
      to: { path: '^examples/' },
    },
    {
      name: 'opentelemetry-stays-in-tracing',
      severity: 'error',
      comment: 'Without a collector its SDK is not loaded. Only a handler, which engineers write, may know it as well.',
      from: { pathNot: ['^libs/platform/tracing/', '^apps/worker/', '^examples/'] },
      to: { path: 'node_modules/@opentelemetry/' },
    },
    {
      name: 'prom-client-stays-in-one-file',
      severity: 'error',
      comment: 'How metrics are kept and told is one decision. All others count and measure by what that file offers.',
      from: { pathNot: ['^libs/platform/management/metrics\\.ts$', SPEC] },
      to: { path: 'node_modules/prom-client/' },
    },
    {
      name: 'production-knows-no-test',
      severity: 'error',
      comment: 'Tests and benchmarks are not built, and what is proven must not depend on its proof.',
      from: { path: '^(apps|libs|examples)/', pathNot: SPEC },
      to: { path: ['^(test|bench)/', SPEC] },
    },
    {
      name: 'bench-measures-from-outside',
      severity: 'error',
      comment:
        'What is measured is what users start and call, so that a change inside needs no change of the benchmark. ' +
        'Only keys it makes itself, more of them than it could ever sign up.',
      from: { path: '^bench/' },
      to: { path: CONTEXT, pathNot: '^libs/accounts/application/key-secrets\\.ts$' },
    },
    {
      name: 'production-needs-no-dev-dependency',
      severity: 'error',
      comment: 'An installation without devDependencies has to run.',
      from: { path: '^(apps|libs|examples)/', pathNot: SPEC },
      to: { dependencyTypes: ['npm-dev'] },
    },
    {
      name: 'packages-are-declared',
      severity: 'error',
      comment: 'A package that only others brought along disappears when they no longer need it.',
      from: { path: '^(apps|libs|examples)/' },
      to: { dependencyTypes: ['npm-no-pkg'] },
    },
    {
      name: 'imports-resolve',
      severity: 'error',
      comment: 'An import that leads nowhere is one that no other rule sees.',
      from: { pathNot: STARTERS },
      to: { couldNotResolve: true },
    },
    {
      name: 'sources-import-no-build',
      severity: 'error',
      comment: 'An alias that leads to dist/ instead of the sources would hide an edge from all other rules.',
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
      comment: 'What no process, command or index.ts leads to is dead, even if it imports others or has a test.',
      from: { path: ENTRY_POINTS },
      to: { path: '^(apps|libs|examples)/', pathNot: [...ENTRY_POINTS, SPEC], reachable: false },
    },
  ],
  options: {
    doNotFollow: { path: ['node_modules', '^dist/', '^test/'] },
    // A type of another context binds as much as a value of it.
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      // It leads aliases such as #kernel/ids.js to the sources; without "development" they lead to the build.
      conditionNames: ['development', 'import', 'node'],
    },
  },
};
