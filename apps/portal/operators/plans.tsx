import type { Plan } from '#client/index.js';
import { Loaded } from '../components/loaded.js';
import { Page } from '../components/parts.js';
import { call } from '../session/connection.js';
import { formatBytes, formatNumber } from '../text/format.js';
import { useResource } from '../loading/hooks.js';
import { href } from '../navigation/router.js';
import { allOf } from './keys.js';

/** Takes the place of a name in an address, and is none. */
export const NEW_PLAN = '+';

export function allPlans(): Promise<readonly Plan[]> {
  return call((client) => allOf(client.admin.plans.list({ limit: 100 })));
}

export function PlansView() {
  const plans = useResource(allPlans, []);
  return (
    <Page
      title="Plans"
      lead="What accounts may do. A change holds for all accounts of the plan within a second."
      actions={
        <a class="button primary" href={href(`plans/${NEW_PLAN}`)}>
          Create a plan
        </a>
      }
    >
      <Loaded resource={plans} rows={4}>
        {(all) => <Rows plans={all} />}
      </Loaded>
    </Page>
  );
}

function Rows({ plans }: { plans: readonly Plan[] }) {
  return (
    <table class="list links plans">
      <thead>
        <tr>
          <th scope="col">Plan</th>
          <th scope="col" class="number wide">
            Storage
          </th>
          <th scope="col" class="number wide">
            Endpoints
          </th>
          <th scope="col" class="number">
            Accounts
          </th>
        </tr>
      </thead>
      <tbody>
        {plans.map((plan) => (
          <tr key={plan.name}>
            <td>
              <a class="row-link" href={href(`plans/${plan.name}`)}>
                <span class="row-title">{plan.name}</span>
                <span class="sub">{limitsOf(plan)}</span>
              </a>
            </td>
            <td class="number wide">{plan.maxStoredBytes === null ? 'default' : formatBytes(plan.maxStoredBytes)}</td>
            <td class="number wide">{plan.maxEndpoints === null ? 'default' : formatNumber(plan.maxEndpoints)}</td>
            <td class="number">{formatNumber(plan.accounts)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function limitsOf({ limits }: Plan): string {
  if (limits === null) return 'limits agreed with each account';
  return `${formatNumber(limits.perMinute)} requests a minute, ${formatNumber(limits.perDay)} a day`;
}
