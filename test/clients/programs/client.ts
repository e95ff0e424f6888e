import createClient from 'openapi-fetch';
import type { paths } from './openapi.js';

const { SLUICE_URL = '', API_KEY = '', LIMITED_KEY = '' } = process.env;

const client = (key: string) =>
  createClient<paths>({ baseUrl: SLUICE_URL, headers: { authorization: `Bearer ${key}` } });
const send = (key: string, message: string) =>
  client(key).POST('/messages', { body: { message }, params: { header: { 'Idempotency-Key': 'generated' } } });

const sent = await send(API_KEY, 'Hello');
const listed = await client(API_KEY).GET('/messages', { params: { query: { status: 'queued', limit: 10 } } });
const unknown = (await send('slc_unknown', 'Hello')).error;
const reused = (await send(API_KEY, 'Another')).error;
const refused = (await send(LIMITED_KEY, 'Hello')).error;

if (unknown?.status !== 401 || reused?.status !== 422 || refused?.status !== 429) throw new Error('No such errors.');
// Only errors that are narrowed by their status have these types.
const codes: ['unauthorized', 'idempotency_key_reused', 'rate_limit_exceeded' | 'api_key_banned'] = [
  unknown.code,
  reused.code,
  refused.code,
];
console.log(JSON.stringify([sent.data?.status, listed.data?.data.map(({ message }) => message), ...codes]));
