import { readAccountsSettings } from '#accounts/settings.js';
import { readDeliverySettings } from '#delivery/settings.js';
import { readMessagesSettings } from '#messages/settings.js';
import { Environment } from '#platform/process/environment.js';
import { ORIGINS, readPlatformSettings } from '#platform/process/settings.js';
import { readRateLimitingSettings } from '#rate-limiting/settings.js';
import { readUpkeepSettings } from '#upkeep/settings.js';
import { readUsageSettings } from '#usage/settings.js';
import { readWebhooksSettings } from '#webhooks/settings.js';

/**
 * All settings, from environment variables.
 * @throws UsageError for a value that is missing or not accepted
 */
export function readSettings(variables: Readonly<Record<string, string | undefined>>) {
  const env = new Environment(variables);
  return {
    ...readPlatformSettings(env),
    ...readAccountsSettings(env),
    ...readRateLimitingSettings(env),
    ...readMessagesSettings(env),
    ...readDeliverySettings(env),
    ...readWebhooksSettings(env),
    ...readUpkeepSettings(env),
    ...readUsageSettings(env),
    portalFrameAncestors: env.read('PORTAL_FRAME_ANCESTORS', [], ORIGINS),
    portal: env.oneOf('PORTAL', 'on', ['on', 'off']) === 'on',
  };
}

export type Settings = ReturnType<typeof readSettings>;
