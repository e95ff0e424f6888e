import { header } from '#platform/http/openapi/operation.js';

export const TRACEPARENT = {
  type: 'string',
  description: 'The trace that the request belongs to (W3C Trace Context). It is passed on to message handlers.',
  examples: ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
};

export const LOCATION = header('The path of the message.', {
  type: 'string',
  format: 'uri-reference',
  examples: ['/messages/msg_01h455vb4pex5vsknk084sn02q'],
});
