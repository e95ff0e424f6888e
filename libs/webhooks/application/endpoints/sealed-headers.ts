import type { EndpointHeaders } from '../../domain/endpoint-headers.js';
import type { SealedSecret, SecretBox } from './secret-box.js';

/** Headers can't be opened in place of a secret. */
const ownerOf = (endpointId: string): string => `${endpointId} headers`;

/** @returns null without headers */
export function sealHeaders(box: SecretBox, headers: EndpointHeaders, endpointId: string): SealedSecret | null {
  if (Object.keys(headers).length === 0) return null;
  return box.seal(Buffer.from(JSON.stringify(headers)), ownerOf(endpointId));
}

export function openHeaders(box: SecretBox, sealed: SealedSecret | null, endpointId: string): EndpointHeaders {
  return sealed === null ? {} : (JSON.parse(box.open(sealed, ownerOf(endpointId)).toString()) as EndpointHeaders);
}
