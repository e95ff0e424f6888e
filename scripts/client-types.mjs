/**
 * Writes libs/client/openapi.ts from the OpenAPI document of a running API: its schemas, and its error codes by status; and
 * the models of the clients in other languages.
 * Usage: npm run client:types [-- <URL or file of the document>] [--check]
 */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { format } from 'oxfmt';
import openapiTypescript, { astToString } from 'openapi-typescript';
import { goModels, pythonModels } from './client-models.mjs';

const output = new URL('../libs/client/openapi.ts', import.meta.url);
const source = process.argv.slice(2).find((arg) => !arg.startsWith('--')) ?? 'http://127.0.0.1:3000/openapi.json';
const document = JSON.parse(
  /^https?:/.test(source) ? await (await fetch(source)).text() : await readFile(source, 'utf8'),
);
const files = [
  [output, await typesOf(document)],
  [new URL('../clients/python/sluice/models.py', import.meta.url), pythonModels(document)],
  [new URL('../clients/go/models.go', import.meta.url), goModels(document)],
];
for (const [file, text] of files) {
  if (!process.argv.includes('--check')) {
    await writeFile(file, text);
  } else if (text !== (await readFile(file, 'utf8'))) {
    console.error(`${fileURLToPath(file)} lags behind the OpenAPI document: run npm run client:types.`);
    process.exitCode = 1;
  }
}

async function typesOf({ openapi, info, components, paths }) {
  const codes = {};
  collectCodes({ components, paths }, codes);
  // A problem of one status differs from the others only by its codes.
  const schemas = Object.fromEntries(Object.entries(components.schemas).filter(([, schema]) => !isProblem(schema)));
  const ast = await openapiTypescript({ openapi, info, paths: {}, components: { schemas } });
  const byStatus = Object.entries(codes).map(
    ([status, set]) => `${status}: ${[...set].sort().map(quoted).join(' | ')};`,
  );
  const text = [
    '/** Generated from the OpenAPI document by `npm run client:types`. */',
    astToString(ast)
      .match(/^export interface components [^]*?^}/m)[0]
      .replace(/^ {4}(?!schemas)\w+: never;\n/gm, '')
      .replace(/\{\s*\[key: string\]: (\w+);\s*\}/g, 'Record<string, $1>'),
    `/** The error codes of each status. */\nexport interface ErrorCodes { ${byStatus.join(' ')} }\n`,
  ];
  const style = JSON.parse(await readFile(new URL('../.oxfmtrc.json', import.meta.url), 'utf8'));
  return (await format(fileURLToPath(output), text.join('\n\n'), style)).code;
}

/** Adds the codes of each schema of a problem. */
function collectCodes(node, codes) {
  if (node === null || typeof node !== 'object') return;
  if (isProblem(node)) {
    const { status, code } = node.properties;
    for (const one of code.enum ?? [code.const]) (codes[status.const] ??= new Set()).add(one);
  }
  for (const child of Object.values(node)) collectCodes(child, codes);
}

function isProblem({ properties }) {
  return properties?.status?.const !== undefined && (properties.code?.enum ?? properties.code?.const) !== undefined;
}

function quoted(text) {
  return `'${text}'`;
}
