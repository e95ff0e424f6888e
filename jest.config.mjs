/**
 * Tests run as CommonJS: @nestjs/throttler and others `require` the ESM packages of Nest, which Jest on Node 20
 * can only do when they are transformed. `npm run build` remains the proof that the ESM sources compile and run.
 */
const esmPackages = [
  '@nestjs',
  'cookie',
  'file-type',
  'strtok3',
  'token-types',
  'uint8array-extras',
  '@tokenizer',
  '@borewit',
  'uid',
  '@lukeed',
  'load-esm',
  'ansis',
  'content-disposition',
  'import-meta-resolve',
  '@?preact',
];

const swc = (parser) => [
  '@swc/jest',
  {
    jsc: {
      parser,
      target: 'es2023',
      transform: { legacyDecorator: true, decoratorMetadata: true },
      keepClassNames: true,
    },
    module: { type: 'commonjs' },
    sourceMaps: 'inline',
  },
];

export default {
  roots: ['<rootDir>/apps', '<rootDir>/libs', '<rootDir>/test'],
  testMatch: ['**/*.spec.ts'],
  testEnvironment: '<rootDir>/test/support/environment.mjs',
  transform: {
    '\\.ts$': swc({ syntax: 'typescript', decorators: true }),
    '\\.m?js$': swc({ syntax: 'ecmascript' }),
  },
  transformIgnorePatterns: [`/node_modules/(?!(?:${esmPackages.join('|')})/)`],
  moduleNameMapper: {
    '^#(kernel|platform|accounts|rate-limiting|messages|delivery|pull|webhooks|events|upkeep|usage|client)/(.*)\\.js$':
      '<rootDir>/libs/$1/$2.ts',
    '^(\\.{1,2}/.*)\\.js$': ['$1.js', '$1'],
  },
  setupFiles: ['reflect-metadata'],
  globalSetup: '<rootDir>/test/support/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
  testSequencer: '<rootDir>/test/support/longest-first.mjs',
  // A loose ceiling, for a busy machine.
  testTimeout: 180_000,
  // Three more than the usual two cores: many tests wait most of the time.
  maxWorkers: 5,
  maxConcurrency: 2,
  // Node keeps much of what each test file has loaded: a worker that has grown is replaced.
  workerIdleMemoryLimit: '1GB',
  // By default Jest takes a worker for one with open handles that needs half a second to end on a busy machine.
  workerGracefulExitTimeout: 10_000,
};
