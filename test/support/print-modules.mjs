import { Module } from 'node:module';

/** Loaded before a program (`--import`): prints the packages of OpenTelemetry that it has loaded when it ends. */
process.on('exit', () => {
  const files = Object.keys(Module._cache).filter((file) => file.includes('/node_modules/@opentelemetry/'));
  const packages = files.map((file) => /@opentelemetry\/[^/]+/.exec(file)[0]);
  process.stdout.write(`OpenTelemetry: ${JSON.stringify([...new Set(packages)])}\n`);
});
