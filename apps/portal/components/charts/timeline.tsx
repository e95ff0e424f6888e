import { formatDuration, formatNumber } from '../../text/format.js';

interface TimelineProps {
  readonly requests: readonly { readonly at: number; readonly admitted: boolean }[];
  /** In milliseconds. */
  readonly duration: number;
}

interface Bar {
  readonly from: number;
  readonly admitted: number;
  readonly refused: number;
}

const MINUTE_MS = 60_000;
const MAX_BARS = 60;
const HEIGHT = 160;
const WIDTH = 600;

/** Stacked bars over time: what is admitted below, what is refused above. */
export function Timeline({ requests, duration }: TimelineProps) {
  const minutes = barsOf(requests, duration, Math.max(1, Math.round(duration / MINUTE_MS)));
  const bars = barsOf(requests, duration, Math.min(MAX_BARS, 10 * minutes.length));
  const highest = Math.max(1, ...bars.map(({ admitted, refused }) => admitted + refused));
  const step = WIDTH / bars.length;
  const summary = minutes
    .slice(0, 10)
    .map(({ admitted, refused }, index) => `minute ${index + 1}: ${admitted} admitted, ${refused} refused`)
    .join('; ');
  return (
    <figure class="timeline">
      <p class="hint">
        Requests, each bar for {formatDuration(duration / bars.length)}. The highest has {formatNumber(highest)}.
      </p>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Requests over time. ${summary}.`}
      >
        {bars.map(({ from, admitted, refused }, index) => {
          const low = (admitted / highest) * HEIGHT;
          const high = (refused / highest) * HEIGHT;
          const place = { x: index * step + 1, width: step - 2 };
          return (
            <g key={from}>
              <title>{`From ${formatDuration(from)}: ${admitted} admitted, ${refused} refused`}</title>
              <rect class="admitted" {...place} y={HEIGHT - low} height={low} />
              <rect class="refused" {...place} y={HEIGHT - low - high} height={high} />
            </g>
          );
        })}
      </svg>
      <div class="axis" aria-hidden="true">
        <span>0 s</span>
        <span>{formatDuration(duration / 2)}</span>
        <span>{formatDuration(duration)}</span>
      </div>
      <figcaption>
        <span class="key admitted">admitted</span> <span class="key refused">refused with 429</span>
      </figcaption>
      <details>
        <summary>As a table</summary>
        <div class="scroll" tabIndex={0} role="group" aria-label="Requests by minute">
          <table class="list">
            <thead>
              <tr>
                <th scope="col">From</th>
                <th scope="col" class="number">
                  Admitted
                </th>
                <th scope="col" class="number">
                  Refused
                </th>
              </tr>
            </thead>
            <tbody>
              {minutes.map(({ from, admitted, refused }) => (
                <tr key={from}>
                  <td>{formatDuration(from)}</td>
                  <td class="number">{formatNumber(admitted)}</td>
                  <td class="number">{formatNumber(refused)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}

function barsOf(requests: TimelineProps['requests'], duration: number, number: number): Bar[] {
  const bars = Array.from({ length: number }, (_, index) => ({
    from: (index * duration) / number,
    admitted: 0,
    refused: 0,
  }));
  for (const { at, admitted } of requests) {
    const bar = bars[Math.min(number - 1, Math.floor((at / duration) * number))];
    if (bar !== undefined) bar[admitted ? 'admitted' : 'refused']++;
  }
  return bars;
}
