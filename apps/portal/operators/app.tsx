import { useEffect, useLayoutEffect } from 'preact/hooks';
import { Announcer } from '../components/announcer.js';
import { IssuedSecret } from '../components/keys/issued.js';
import { Contained } from '../components/shell/contained.js';
import { NotFound, Shell, type Place } from '../components/shell/shell.js';
import { SignInForm } from '../components/welcome/sign-in-form.js';
import { Welcome } from '../components/welcome/welcome.js';
import { href, replace, route } from '../navigation/router.js';
import { AccountView } from './account.js';
import { AccountsView } from './accounts.js';
import { AuditView } from './audit.js';
import { BansView } from './bans.js';
import { NewPlanView, PlanView } from './plan.js';
import { NEW_PLAN, PlansView } from './plans.js';
import { QueueView } from './queue.js';
import { isSignedIn, signIn, signOut } from './session.js';

const PLACES: readonly Place[] = [
  {
    path: 'accounts',
    label: 'Accounts',
    icon: 'accounts',
    view: (id) => (id === undefined ? <AccountsView /> : <AccountView key={id} id={id} />),
  },
  {
    path: 'plans',
    label: 'Plans',
    icon: 'plans',
    view: (name) => {
      if (name === undefined) return <PlansView />;
      return name === NEW_PLAN ? <NewPlanView /> : <PlanView key={name} name={name} />;
    },
  },
  { path: 'bans', label: 'Bans', icon: 'bans', view: () => <BansView /> },
  { path: 'queue', label: 'Queue', icon: 'queue', view: () => <QueueView /> },
  { path: 'audit', label: 'Audit', icon: 'audit', view: () => <AuditView /> },
];

export function App() {
  return (
    <>
      {isSignedIn.value ? <SignedIn /> : <SignIn />}
      <IssuedSecret />
      <Announcer />
    </>
  );
}

function SignedIn() {
  const [first, id] = route.value.path;
  const place = PLACES.find(({ path }) => path === first);
  useLayoutEffect(() => {
    if (first === undefined) replace(href('accounts'));
  }, [first]);
  return (
    <Shell
      places={PLACES}
      who="Operator"
      as="management port"
      onSignOut={() => {
        signOut('You are signed out.');
      }}
    >
      {place === undefined ? (
        first !== undefined && <NotFound />
      ) : (
        <Contained key={route.value.path.join('/')}>{place.view(id)}</Contained>
      )}
    </Shell>
  );
}

function SignIn() {
  useEffect(() => {
    document.title = 'Sign in · Sluice operators';
  }, []);
  return (
    <Welcome title="For operators" lead="Accounts and their plans, bans, and the queue of this Sluice.">
      <section class="card sign">
        <SignInForm
          label="Operators’ key"
          hint="It stays in this tab and is forgotten when you close it."
          wrong="This is not the operators’ key."
          signIn={signIn}
        >
          <p class="hint">
            It is one of <code>ADMIN_API_KEY</code> of the API, without its name. With <code>npm start</code>, it is in
            the file <code>admin-api-key</code> of the data folder.
          </p>
        </SignInForm>
      </section>
    </Welcome>
  );
}
