import { Inject, Injectable, type CanActivate } from '@nestjs/common';
import { DomainError } from '#kernel/domain-error.js';
import { SETTINGS } from '#platform/process/platform.module.js';
import type { WebhooksSettings } from '../../settings.js';

/** Without a key to encrypt secrets, there are no endpoints. */
@Injectable()
export class WebhooksEnabledGuard implements CanActivate {
  constructor(@Inject(SETTINGS) private readonly settings: WebhooksSettings) {}

  canActivate(): boolean {
    if (this.settings.secretsKeys.length > 0) return true;
    const detail = 'Webhooks are disabled on this service. Ask the operator to set SECRETS_KEY.';
    throw new DomainError('webhooks_disabled', detail);
  }
}
