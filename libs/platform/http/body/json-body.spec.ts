import { EventEmitter, once } from 'node:events';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { ExecutionContext } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { IsInt, IsOptional, IsString, Max, Min } from 'class-validator';
import { BufferBudget } from './buffer-budget.js';
import { expectingContinue } from '../edge/connections.js';
import { JsonBody } from './json-body.js';
import { CallerLimit } from '../../concurrency/caller-limit.js';

const LIMIT = 1_048_576;
const JSON_TYPE = { 'content-type': 'application/json' };

class Body {
  @IsString({ message: 'text must be a string.' })
  text!: string;

  @IsOptional()
  @IsInt({ message: 'count must be a whole number.' })
  @Min(1, { message: 'count must be at least 1.' })
  @Max(9, { message: 'count must be at most 9.' })
  count?: number;
}

class Controller {
  create(@JsonBody(Body, LIMIT) body: Body): Body {
    return body;
  }
}

/** What the handler gets from a request. */
function read(
  raw: Readable,
  headers: Record<string, string>,
  reply = new EventEmitter(),
  accountId?: string,
): Promise<Body> {
  const server = { initialConfig: { bodyLimit: LIMIT }, bodies: new BufferBudget(16 * LIMIT) };
  const request = { raw, server, headers, clientAddress: '192.0.2.1', caller: accountId && { accountId } };
  const http = { getRequest: () => request, getResponse: () => ({ raw: reply }) };
  const context = { switchToHttp: () => http } as unknown as ExecutionContext;
  const parameters = Reflect.getMetadata(ROUTE_ARGS_METADATA, Controller, 'create') as object;
  const [{ factory }] = Object.values(parameters) as [{ factory: (data: unknown, of: ExecutionContext) => unknown }];
  return factory(undefined, context) as Promise<Body>;
}

/** A body that arrives in these pieces. */
const bodyOf = (...pieces: (string | Buffer)[]) =>
  Readable.from(
    pieces.map((piece) => Buffer.from(piece)),
    { objectMode: false },
  );

/** Takes long to parse. */
const names = (count: number) => Array.from({ length: count }, (_, index) => `"n${index}":0`).join();
const MANY_NAMES = names(40_000);

const bytesAround = (bytes: readonly number[]) =>
  Buffer.concat([Buffer.from('{"text":"'), Buffer.from(bytes), Buffer.from('"}')]);

describe('JsonBody', () => {
  it('rejects a body whose connection was lost before it was read', async () => {
    const raw = new Readable({ read: () => undefined });
    await once(raw.destroy(), 'close');
    await expect(read(raw, { ...JSON_TYPE, 'content-length': '2' })).rejects.toMatchObject({
      code: 'malformed_request',
    });
  });

  it.each([
    ...['"1"', '""', 'true', '[]', '[1]', '{}', '1.5', '9.5', '0.5', '1e400'].map((count) => [
      count,
      'be a whole number',
    ]),
    ...['0', '-1', '-1e9'].map((count) => [count, 'be at least 1']),
    ...['10', '1e9'].map((count) => [count, 'be at most 9']),
  ])('says what is wrong with a number: %s', async (count, what) => {
    const body = read(bodyOf(`{"text":"a","count":${count}}`), JSON_TYPE);
    await expect(body).rejects.toMatchObject({ errors: [{ pointer: '/count', detail: `count must ${what}.` }] });
  });

  it.each([
    ['plain', '{"text":"a"}', 'a'],
    ['with escapes', String.raw`{"text":"\u00e9\ud83d\ude00"}`, 'é😀'],
    ['that is there twice', '{"text":"a","text":"b"}', 'b'],
    ['beside unknown ones', '{"__proto__":{"text":"x"},"constructor":1,"text":"a"}', 'a'],
    ['with as many brackets as fit', `{"text":"${'['.repeat(500_000)}"}`, '['.repeat(500_000)],
    ['beside very many unknown ones', `{${MANY_NAMES},"text":"a",${MANY_NAMES}}`, 'a'],
    ['beside one that is nested deeply', `{"a":${'['.repeat(400_000)}${']'.repeat(400_000)},"text":"a"}`, 'a'],
    ['with brackets behind a quote', `{"text":"\\"${'{'.repeat(500_000)}"}`, `"${'{'.repeat(500_000)}`],
  ])('takes a field %s, however it arrives', async (_how, body, text) => {
    const bytes = Buffer.from(body);
    for (const size of [bytes.length, Math.ceil(bytes.length / 3)]) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      );
      const found = await read(bodyOf(...pieces), JSON_TYPE);
      expect(found.text === text).toBe(true);
      expect([found instanceof Body, Object.keys(found)]).toEqual([true, Object.keys(new Body())]);
    }
  });

  it.each<[string, string | Buffer, string]>([
    ['nothing', '', 'invalid_json'],
    ['no JSON', '{"text":', 'invalid_json'],
    ['invalid UTF-8', bytesAround([0xff]), 'invalid_json'],
    ['a surrogate in UTF-8', bytesAround([0xed, 0xa0, 0x80]), 'invalid_json'],
    ['a byte order mark', '\ufeff{"text":"a"}', 'invalid_json'],
    ['arrays in one another', `{"text":${'['.repeat(250_001)}`, 'invalid_json'],
    ['a large body that is no JSON', `{${MANY_NAMES},"text":"a",}`, 'invalid_json'],
    ['large invalid UTF-8', bytesAround(Array<number>(100_000).fill(0xff)), 'invalid_json'],
    ['a large body with a missing field', `{${MANY_NAMES}}`, 'validation_failed'],
    ['a large array', `[{${MANY_NAMES}}]`, 'validation_failed'],
    ['an array', '["a"]', 'validation_failed'],
    ['null', 'null', 'validation_failed'],
    ['a missing field', '{}', 'validation_failed'],
    ['an inherited field', '{"__proto__":{"text":"a"}}', 'validation_failed'],
    ['a field of another type', '{"text":1}', 'validation_failed'],
  ])('refuses %s', async (_what, body, code) => {
    await expect(read(bodyOf(body), JSON_TYPE)).rejects.toMatchObject({ code });
  });

  it.each([
    ['application/json', undefined, null],
    ['application/json; charset=utf-8', 'identity', null],
    ['Application/JSON;charset="UTF-8"', undefined, null],
    [undefined, undefined, 'invalid_content_type'],
    ['', undefined, 'invalid_content_type'],
    ['text/plain', undefined, 'invalid_content_type'],
    ['application/json; charset=latin1', undefined, 'invalid_content_type'],
    ['application/jsonx', undefined, 'invalid_content_type'],
    ['application/json', 'gzip', 'unsupported_encoding'],
    ['application/json', 'identity, gzip', 'unsupported_encoding'],
  ])('of the type %s with the encoding %s: %s', async (type, encoding, code) => {
    const headers = {
      ...(type !== undefined && { 'content-type': type }),
      ...(encoding !== undefined && { 'content-encoding': encoding }),
    };
    const result = read(bodyOf('{"text":"a"}'), headers);
    if (code === null) await expect(result).resolves.toEqual({ text: 'a' });
    else await expect(result).rejects.toMatchObject({ code });
  });

  it.each([
    ['announced', 0, true, null],
    ['announced', 1, true, 'body_too_large'],
    ['in chunks', 0, false, null],
    ['in chunks', 1, false, 'body_too_large'],
  ])('%s, of %i bytes more than its limit (%s)', async (_how, more, isAnnounced, code) => {
    const body = `{"text":"${'x'.repeat(LIMIT - 11 + more)}"}`;
    const pieces = [body.slice(0, 700_000), body.slice(700_000)];
    const headers = { ...JSON_TYPE, ...(isAnnounced && { 'content-length': String(body.length) }) };
    const result = read(bodyOf(...pieces), headers).then(({ text }) => text.length);
    if (code === null) await expect(result).resolves.toBe(LIMIT - 11);
    else await expect(result).rejects.toMatchObject({ code });
  });

  it('asks a client that waits for it to send its body, unless it is refused', async () => {
    for (const [headers, asked] of [
      [JSON_TYPE, 1],
      [{ ...JSON_TYPE, 'content-length': String(LIMIT + 1) }, 0],
      [{ 'content-type': 'text/plain' }, 0],
    ] as const) {
      const raw = bodyOf('{"text":"a"}');
      expectingContinue.add(raw as never);
      const writeContinue = jest.fn();
      await read(raw, headers, Object.assign(new EventEmitter(), { writeContinue })).catch(() => undefined);
      expect(writeContinue).toHaveBeenCalledTimes(asked);
    }
  });

  it('parses a large body in many iterations of the event loop', async () => {
    const progress = { iterations: 0, isParsed: false };
    const parsed = read(bodyOf(`{${MANY_NAMES},"text":"a"}`), JSON_TYPE).then(() => (progress.isParsed = true));
    // Reading the pieces of this body takes fewer.
    for (; !progress.isParsed; progress.iterations++) await setImmediate();
    await parsed;
    expect(progress.iterations).toBeGreaterThan(6);
  });

  it('parses the large bodies of a caller one after another, with pauses, and those of others meanwhile', async () => {
    const release = jest.spyOn(CallerLimit.prototype, 'release');
    const ends: string[] = [];
    // None waits for ten seconds, after which it would be refused, on a busy machine either.
    const parse = (accountId: string) =>
      read(bodyOf(`{${names(20_000)},"text":"a"}`), JSON_TYPE, new EventEmitter(), accountId).then(() =>
        ends.push(accountId),
      );
    await Promise.all(['busy', 'busy', 'busy', 'busy', 'other'].map(parse));
    expect(ends.indexOf('other')).toBeLessThan(3);
    // Milliseconds for which a caller is not served.
    expect(release.mock.calls.filter(([, restMs = 0]) => restMs > 0)).toHaveLength(5);
    release.mockRestore();
  });
});
