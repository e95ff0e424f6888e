import type { Limits } from '#client/index.js';
import { NumberField, wholeNumber } from '../components/number-field.js';

const MAX_LIMIT = 1_000_000_000;

/** Limits as they are typed. */
interface TypedLimits {
  readonly perMinute: string;
  readonly perDay: string;
}

interface LimitFieldsProps extends TypedLimits {
  readonly onInput: (changed: Partial<TypedLimits>) => void;
}

export function LimitFields({ perMinute, perDay, onInput }: LimitFieldsProps) {
  return (
    <div class="limits">
      <NumberField
        label="Requests a minute"
        max={MAX_LIMIT}
        value={perMinute}
        onInput={(typed) => {
          onInput({ perMinute: typed });
        }}
      />
      <NumberField
        label="Requests a day"
        max={MAX_LIMIT}
        value={perDay}
        onInput={(typed) => {
          onInput({ perDay: typed });
        }}
      />
    </div>
  );
}

export const typedLimits = (limits: Limits | null | undefined): TypedLimits => ({
  perMinute: String(limits?.perMinute ?? ''),
  perDay: String(limits?.perDay ?? ''),
});

export const limitsOf = ({ perMinute, perDay }: TypedLimits): Limits => ({
  perMinute: wholeNumber(perMinute),
  perDay: wholeNumber(perDay),
});
