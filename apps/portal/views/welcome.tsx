import { useEffect, useState } from 'preact/hooks';
import { Button } from '../components/button.js';
import { Field } from '../components/field.js';
import { Form } from '../components/form.js';
import { Command } from '../components/messages/command.js';
import { fieldError, Problem } from '../components/problem.js';
import { SignInForm } from '../components/welcome/sign-in-form.js';
import { KeepSignedIn } from '../components/welcome/keep-signed-in.js';
import { Welcome } from '../components/welcome/welcome.js';
import { BASE_URL, notice } from '../session/connection.js';
import { useAction } from '../loading/hooks.js';
import { href, replace, route } from '../navigation/router.js';
import { isSignUpOpen, signIn, signUp } from '../session/session.js';
import { signUpSnippet } from '../text/snippets.js';

export function WelcomeView() {
  const [place = 'sign-up'] = route.value.path;
  const isSigningIn = !isSignUpOpen || place !== 'sign-up' || notice.value !== '';
  useEffect(() => {
    document.title = `${isSigningIn ? 'Sign in' : 'Sign up'} · Sluice`;
  }, [isSigningIn]);
  return (
    <Welcome
      title="Send a message. Know that it arrives."
      lead="Sluice takes your messages over HTTP, stores them durably and delivers them at least once: to a worker, to your webhooks, or when you pull."
      links={<a href="/docs">API reference</a>}
    >
      <section class="card sign">
        {isSigningIn ? <SignIn /> : <SignUp />}
        {!isSignUpOpen && <p class="hint">Sign-up is closed here. Ask the operator for an account.</p>}
      </section>
      <Steps />
    </Welcome>
  );
}

/** What comes after the sign-in, and the same from a terminal. */
function Steps() {
  return (
    <section class="tour">
      <ol>
        <li>
          <strong>Send.</strong> A 202 means that the message is stored, and survives any crash.
        </li>
        <li>
          <strong>Watch.</strong> Each attempt, and what each endpoint answered, as it happens.
        </li>
        <li>
          <strong>Recover.</strong> Retry, cancel or replay one message, or all that match.
        </li>
      </ol>
      {isSignUpOpen && (
        <Command label="A command that creates an account" text={() => signUpSnippet(BASE_URL)}>
          <span>Or create an account from a terminal:</span>
        </Command>
      )}
    </section>
  );
}

function SignUp() {
  const [name, setName] = useState('');
  const { run, isRunning, error } = useAction(async () => {
    await signUp(name);
    replace(href('send'));
  });
  return (
    <Form onSubmit={() => void run()}>
      <h2>Create an account</h2>
      <p class="hint">You get an API key at once. No e-mail address, no password.</p>
      <Field label="Name of the account" error={fieldError(error, '/name')}>
        {(tied) => (
          <input
            {...tied}
            required
            autocomplete="organization"
            placeholder="Acme"
            value={name}
            onInput={({ currentTarget }) => {
              setName(currentTarget.value);
            }}
          />
        )}
      </Field>
      <Problem error={error} fields={['/name']} />
      <Button type="submit" look="primary" isBusy={isRunning}>
        {isRunning ? 'Creating …' : 'Create the account'}
      </Button>
      <p class="switch">
        Have a key? <a href={href('sign-in')}>Sign in</a>
      </p>
    </Form>
  );
}

function SignIn() {
  const [keep, setKeep] = useState(false);
  return (
    <SignInForm
      label="API key"
      placeholder="slc_…"
      hint="The open tabs of this browser share it. It is forgotten when the last one is closed."
      options={<KeepSignedIn checked={keep} onChange={setKeep} />}
      wrong="This key is not valid: it is unknown, revoked or has expired."
      signIn={async (key) => {
        await signIn(key, keep);
      }}
    >
      {isSignUpOpen && (
        <p class="switch">
          No account?{' '}
          <a
            href={href('sign-up')}
            onClick={() => {
              notice.value = '';
            }}
          >
            Sign up
          </a>
        </p>
      )}
    </SignInForm>
  );
}
