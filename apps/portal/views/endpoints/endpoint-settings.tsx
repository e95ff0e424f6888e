import { useState } from 'preact/hooks';
import type { Endpoint, EndpointChanges } from '#client/index.js';
import { announce } from '../../components/announcer.js';
import { Button } from '../../components/button.js';
import { Dialog } from '../../components/dialog.js';
import {
  DescriptionField,
  ENDPOINT_POINTERS,
  HeadersField,
  headersOf,
  TypesField,
  UrlField,
} from './endpoint-fields.js';
import { Form } from '../../components/form.js';
import { NumberField, wholeNumber } from '../../components/number-field.js';
import { fieldError, Problem } from '../../components/problem.js';
import { useAction, useEdits } from '../../loading/hooks.js';

interface Props {
  readonly endpoint: Endpoint;
  readonly onClose: () => void;
  readonly change: (changes: EndpointChanges) => Promise<void>;
}

/** Changes where an endpoint is, what it is called, which messages it gets, how fast, and with which headers. */
export function EndpointSettingsDialog({ endpoint, onClose, change }: Props) {
  const { shown, changed, edit } = useEdits({
    url: endpoint.url,
    description: endpoint.description,
    rate: String(endpoint.rateLimitPerSecond),
    types: endpoint.types,
  });
  const [lines, setLines] = useState('');
  const [isClearing, setIsClearing] = useState(false);
  const { run, isRunning, error } = useAction(async () => {
    const headers = isClearing ? {} : headersOf(lines);
    const changesHeaders = isClearing || Object.keys(headers).length > 0;
    const { rate, ...others } = changed;
    await change({
      ...others,
      ...(rate !== undefined && { rateLimitPerSecond: wholeNumber(rate) }),
      ...(changesHeaders && { headers }),
    });
    announce('The endpoint is changed.');
  });
  const names = endpoint.headerNames;
  return (
    <Dialog title="Edit the endpoint" onClose={onClose}>
      <Form onSubmit={() => void run()}>
        <UrlField
          value={shown.url}
          onChange={(url) => {
            edit({ url });
          }}
          error={error}
          hint="Attempts that begin after the change use it."
        />
        <DescriptionField
          value={shown.description}
          onChange={(description) => {
            edit({ description });
          }}
          error={error}
        />
        <NumberField
          label="Requests per second"
          hint="0 for no limit."
          error={fieldError(error, '/rateLimitPerSecond')}
          min={0}
          value={shown.rate}
          onInput={(rate) => {
            edit({ rate });
          }}
        />
        <TypesField
          value={shown.types}
          onChange={(types) => {
            edit({ types: [...types] });
          }}
          error={error}
        />
        {!isClearing && (
          <HeadersField
            value={lines}
            onChange={setLines}
            error={error}
            hint={
              names.length === 0
                ? 'One “Name: value” in a line. Values are stored encrypted and never shown again.'
                : `It has ${names.join(', ')}, whose values are not shown. What you write here replaces all of them.`
            }
          />
        )}
        {names.length > 0 && (
          <div class="field">
            <label class="check">
              <input
                type="checkbox"
                checked={isClearing}
                onChange={({ currentTarget }) => {
                  setIsClearing(currentTarget.checked);
                }}
              />
              Remove all headers
            </label>
          </div>
        )}
        <Problem
          error={error}
          fields={['/url', '/description', '/rateLimitPerSecond', ...ENDPOINT_POINTERS, '/types/0']}
        />
        <footer class="actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" isBusy={isRunning}>
            Save
          </Button>
        </footer>
      </Form>
    </Dialog>
  );
}
