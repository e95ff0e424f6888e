import { formatNumber } from '../../text/format.js';

interface MeterProps {
  readonly label: string;
  readonly used: number;
  readonly limit: number;
  readonly format?: (value: number) => string;
}

const RADIUS = 42;
const LENGTH = 2 * Math.PI * RADIUS;

/** A bar that fills up: warns from four fifths on. */
export function Meter(props: MeterProps) {
  const { share, attributes } = meterOf('meter', props);
  return (
    <div {...attributes}>
      <div style={{ width: `${share * 100}%` }} />
    </div>
  );
}

/** The same as a ring. */
export function Ring(props: MeterProps) {
  const { share, attributes } = meterOf('ring', props);
  return (
    <div {...attributes}>
      <svg viewBox="0 0 100 100" aria-hidden="true">
        <circle cx="50" cy="50" r={RADIUS} />
        {share > 0 && (
          <circle class="share" cx="50" cy="50" r={RADIUS} stroke-dasharray={`${share * LENGTH} ${LENGTH}`} />
        )}
        <text x="50" y="56">{`${Math.floor(share * 100)}%`}</text>
      </svg>
    </div>
  );
}

function meterOf(className: string, { label, used, limit, format = formatNumber }: MeterProps) {
  const share = limit === 0 ? 1 : Math.min(1, used / limit);
  const tone = share >= 1 ? 'bad' : share >= 0.8 ? 'warn' : 'good';
  const attributes = {
    class: `${className} ${tone}`,
    role: 'meter' as const,
    'aria-label': label,
    'aria-valuemin': 0,
    'aria-valuemax': limit,
    'aria-valuenow': Math.min(used, limit),
    'aria-valuetext': `${format(used)} of ${format(limit)}`,
  };
  return { share, attributes };
}
