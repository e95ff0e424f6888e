import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { isKeyRefused, notice } from '../../session/connection.js';
import { useAction } from '../../loading/hooks.js';
import { Button } from '../button.js';
import { Field } from '../field.js';
import { Form } from '../form.js';
import { Problem } from '../problem.js';

interface SignInFormProps {
  /** What the key is, such as "API key". */
  readonly label: string;
  readonly placeholder?: string;
  /** Where it is kept. */
  readonly hint: string;
  /** Below the key. */
  readonly options?: ComponentChildren;
  /** The sentence for a wrong key. */
  readonly wrong: string;
  /** Rejects if the key is wrong. */
  readonly signIn: (key: string) => Promise<void>;
  readonly children?: ComponentChildren;
}

export function SignInForm({ label, placeholder, hint, options, wrong, signIn, children }: SignInFormProps) {
  const [key, setKey] = useState('');
  const field = useRef<HTMLInputElement>(null);
  // At once: after the next frame, the visitor may have begun to type.
  useLayoutEffect(() => {
    if (notice.value !== '') field.current?.focus();
  }, []);
  const { run, isRunning, error } = useAction(() => signIn(key.trim()));
  // The client takes no key that cannot be in a header.
  const isWrong = isKeyRefused(error) || error instanceof TypeError;
  return (
    <Form onSubmit={() => void run()}>
      <h2>Sign in</h2>
      {notice.value !== '' && (
        <p class="notice" role="status">
          {notice.value}
        </p>
      )}
      <Field label={label} hint={hint} error={isWrong ? wrong : undefined}>
        {(tied) => (
          <input
            {...tied}
            ref={field}
            required
            type="password"
            class="mono"
            autocomplete="off"
            spellcheck={false}
            placeholder={placeholder}
            value={key}
            onInput={({ currentTarget }) => {
              setKey(currentTarget.value);
            }}
          />
        )}
      </Field>
      {options}
      {!isWrong && <Problem error={error} />}
      <Button type="submit" look="primary" isBusy={isRunning}>
        {isRunning ? 'Signing in …' : 'Sign in'}
      </Button>
      {children}
    </Form>
  );
}
