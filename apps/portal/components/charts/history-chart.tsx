import type { UsagePeriod } from '#client/index.js';
import type { ComponentChildren } from 'preact';
import { formatBytes, formatDay, formatHour, formatNumber, ZONE } from '../../text/format.js';
import { href, open } from '../../navigation/router.js';

interface HistoryChartProps {
  readonly by: 'hour' | 'day';
  /** Each period of the time that is shown, the oldest first. */
  readonly periods: readonly UsagePeriod[];
  /** Whether the numbers lead to the messages that they count. */
  readonly isLinked?: boolean;
}

const HEIGHT = 160;
const WIDTH = 600;
const PERIOD_MS = { hour: 3_600_000, day: 86_400_000 };

const openOrCancelled = ({ accepted, delivered, failed }: UsagePeriod) => Math.max(0, accepted - delivered - failed);

/** Stacked bars over time: as high as what was accepted, divided by how it has ended. */
export function HistoryChart({ by, periods, isLinked = false }: HistoryChartProps) {
  const highest = Math.max(...periods.map(({ accepted }) => accepted));
  const step = WIDTH / periods.length;
  const [name, zone] = by === 'hour' ? [formatHour, ZONE] : [formatDay, 'UTC'];
  const used = periods.filter(({ accepted }) => accepted > 0);
  const total = (field: 'accepted' | 'delivered' | 'failed') =>
    formatNumber(periods.reduce((sum, period) => sum + period[field], 0));
  const listOf = ({ start }: UsagePeriod, status?: string) =>
    href('messages', { status, since: start, until: new Date(Date.parse(start) + PERIOD_MS[by]).toISOString() });
  const linked = (text: string, to: string): ComponentChildren => (isLinked ? <a href={to}>{text}</a> : text);
  const shown = [periods[0], periods[periods.length >> 1], periods.at(-1)];
  return (
    <figure class="timeline">
      <p class="hint">
        Messages by the {by} in which they were accepted, in {zone}.{' '}
        {highest === 0 ? 'There are none yet.' : `The highest bar has ${formatNumber(highest)}.`}
      </p>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Messages by ${by}: ${total('accepted')} accepted, ${total('delivered')} of them delivered, ${total('failed')} failed. The table below has each ${by}.`}
      >
        {periods.map((period, index) => {
          const heights = [period.delivered, period.failed, openOrCancelled(period)].map(
            (messages) => (messages / Math.max(1, highest)) * HEIGHT,
          );
          const [delivered = 0, failed = 0, rest = 0] = heights;
          const place = { x: index * step + 1, width: step - 2 };
          return (
            <g
              key={period.start}
              class={isLinked ? 'linked' : undefined}
              // The table has the same as links.
              onClick={
                isLinked
                  ? () => {
                      open(listOf(period));
                    }
                  : undefined
              }
            >
              <title>{`${name(period.start)}: ${formatNumber(period.accepted)} accepted, ${formatNumber(period.delivered)} delivered, ${formatNumber(period.failed)} failed`}</title>
              <rect class="delivered" {...place} y={HEIGHT - delivered} height={delivered} />
              <rect class="failed" {...place} y={HEIGHT - delivered - failed} height={failed} />
              <rect class="rest" {...place} y={HEIGHT - delivered - failed - rest} height={rest} />
            </g>
          );
        })}
      </svg>
      <div class="axis" aria-hidden="true">
        {shown.map((period) => period !== undefined && <span key={period.start}>{name(period.start)}</span>)}
      </div>
      <figcaption>
        <span class="key delivered">delivered</span> <span class="key failed">failed</span>{' '}
        <span class="key rest">open or cancelled</span>
      </figcaption>
      <details>
        <summary>As a table</summary>
        <div class="scroll" tabIndex={0} role="group" aria-label={`Messages by ${by}`}>
          <table class="list history">
            <thead>
              <tr>
                <th scope="col">From ({zone})</th>
                {['Accepted', 'Size', 'Delivered', 'Failed'].map((heading) => (
                  <th key={heading} scope="col" class="number">
                    {heading}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {used.map((period) => (
                <tr key={period.start}>
                  <td>{name(period.start)}</td>
                  <td class="number">{linked(formatNumber(period.accepted), listOf(period))}</td>
                  <td class="number">{formatBytes(period.acceptedBytes)}</td>
                  <td class="number">{linked(formatNumber(period.delivered), listOf(period, 'delivered'))}</td>
                  <td class="number">{linked(formatNumber(period.failed), listOf(period, 'failed'))}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}
