import type { Endpoint } from '#client/index.js';
import { call } from '../session/connection.js';

/** All that a plan can allow an account, which is also the longest page. */
const MAX_ENDPOINTS = 100;

export async function loadEndpoints(): Promise<readonly Endpoint[]> {
  const { data } = await call((client) => client.endpoints.list({ limit: MAX_ENDPOINTS }).page());
  return data;
}
