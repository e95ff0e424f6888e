import { MAX_CANCELLED } from '#messages/application/changes/cancel-queued.js';
import { MAX_RETRIED } from '#messages/application/changes/retry-failed.js';
import * as cli from '../../apps/cli/commands/messages.js';
import * as portal from '../../apps/portal/views/messages/at-once.js';

it('The command line and the portal, which import no server code, know how many messages a request changes at most', () => {
  expect(cli.MAX_CANCELLED).toBe(MAX_CANCELLED);
  expect(portal.AT_ONCE).toEqual({ retry: MAX_RETRIED, cancel: MAX_CANCELLED, replay: 1 });
});
