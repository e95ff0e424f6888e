import { useState } from 'preact/hooks';
import type { Simulation } from '#client/index.js';
import { Button } from '../components/button.js';
import { Choice } from '../components/choice.js';
import { Form } from '../components/form.js';
import { NumberField, wholeNumber } from '../components/number-field.js';
import { Card, Page } from '../components/parts.js';
import { Problem } from '../components/problem.js';
import { Timeline } from '../components/charts/timeline.js';
import { call, pause } from '../session/connection.js';
import { count, formatDuration, formatNumber } from '../text/format.js';
import { useAction } from '../loading/hooks.js';
import { account } from '../session/account.js';

const MINUTE_MS = 60_000;
/** What one request may ask for. */
const MAX_REQUESTS = 10_000;

const PATTERNS = [
  { label: 'Evenly spread', value: 'steady' },
  { label: 'All at the start of each minute', value: 'bursts' },
] as const;
type Pattern = (typeof PATTERNS)[number]['value'];

interface Result {
  readonly simulation: Simulation;
  readonly minutes: number;
}

export function SimulatorView() {
  const [typedRate, setTypedRate] = useState(() =>
    String(Math.min(MAX_REQUESTS, Math.round(1.2 * (account.value?.limits.perMinute ?? 60)))),
  );
  const [typedMinutes, setTypedMinutes] = useState(() =>
    String(Math.min(3, Math.floor(MAX_REQUESTS / Number(typedRate)))),
  );
  const [perMinute, minutes] = [wholeNumber(typedRate), wholeNumber(typedMinutes)];
  const [pattern, setPattern] = useState<Pattern>('steady');
  const [result, setResult] = useState<Result | null>(null);
  const total = perMinute * minutes;
  const isTooMuch = total > MAX_REQUESTS;
  const { run, isRunning, error } = useAction(async () => {
    const requests = schedule(perMinute, minutes, pattern);
    setResult({ simulation: await call((client) => client.account.simulate({ requests })), minutes });
  });
  return (
    <Page title="Simulator" lead="See which requests of a schedule your limits would admit. Nothing is sent.">
      <Card title="Schedule">
        <Form
          class="inline-form"
          onSubmit={() => {
            if (!isTooMuch) void run();
          }}
        >
          <NumberField label="Requests per minute" value={typedRate} max={MAX_REQUESTS} onInput={setTypedRate} />
          <NumberField label="Minutes" value={typedMinutes} max={60} onInput={setTypedMinutes} />
          <Choice label="Pattern" value={pattern} choices={PATTERNS} onChange={setPattern} />
          <Button
            type="submit"
            look="primary"
            isBusy={isRunning}
            isDisabled={isTooMuch || !(total > 0) || pause.value !== null}
          >
            Simulate
          </Button>
        </Form>
        <p class={isTooMuch ? 'field-error' : 'hint'} aria-live="polite">
          {isTooMuch
            ? `These are ${formatNumber(total)} requests. At most ${formatNumber(MAX_REQUESTS)} can be simulated.`
            : `${total > 0 ? count(total, 'request') : 'No requests'}, with the limits of your plan. Simulating counts as one request.`}
        </p>
        <Problem error={error} />
      </Card>
      {result !== null && <ResultCard {...result} />}
    </Page>
  );
}

function ResultCard({ simulation, minutes }: Result) {
  const { admitted, refused, firstRefusedAt, limits, requests = [] } = simulation;
  return (
    <Card title="Result">
      <p class="figure" role="status">
        {refused === 0 ? 'All are admitted' : `${count(refused, 'request')} refused`}{' '}
        <span>
          {refused === 0
            ? `${count(admitted, 'request')}, within the limits`
            : `with 429 of ${formatNumber(admitted + refused)}; the first one after ${formatDuration(firstRefusedAt ?? 0)}`}
        </span>
      </p>
      <Timeline requests={requests} duration={minutes * MINUTE_MS} />
      <p class="hint">
        Limits: {formatNumber(limits.perMinute)} per minute and {formatNumber(limits.perDay)} per day. A window begins
        with the first request that it counts.
      </p>
    </Card>
  );
}

function schedule(perMinute: number, minutes: number, pattern: Pattern): { at: number }[] {
  return Array.from({ length: perMinute * minutes }, (_, index) => {
    const at = pattern === 'steady' ? (index * MINUTE_MS) / perMinute : Math.floor(index / perMinute) * MINUTE_MS;
    return { at: Math.round(at) };
  });
}
