const SESSION = 'apps/portal/session.ts';
const CONNECTION = 'apps/portal/connection.ts';
const DRAFT = 'apps/portal/draft.ts';
const OPERATORS = 'apps/portal/operators/session.ts';
const SPEC = 'apps/portal/session.spec.ts';
const MESSAGE = 'apps/portal/views/messages/message.tsx';
const PORTAL_SPEC = 'test/portal/portal.spec.ts';

export default [
  {
    what: 'a key is kept before it is known to be valid',
    file: SESSION,
    find: 'if (key !== null && known === null) return;',
    replace: '',
    tests: [SPEC],
  },
  {
    what: 'a key is kept beyond the session of its tab',
    file: SESSION,
    find: "remember('sessionStorage', STORED, key);",
    replace: "remember('localStorage', STORED, key);",
    tests: [SPEC],
  },
  {
    what: 'what is known of an account is kept after it was signed out',
    file: SESSION,
    find: "remember('sessionStorage', STORED_PROFILE, key === null ? null : JSON.stringify(found));",
    replace: "remember('sessionStorage', STORED_PROFILE, JSON.stringify(found));",
    tests: [SPEC],
  },
  {
    what: 'an account is shown after it was signed out',
    file: SESSION,
    find: '  account.value = null;\n',
    replace: '',
    tests: [SPEC],
  },
  {
    what: 'the first key of an account is shown after it was signed out',
    file: SESSION,
    find: '  firstKey.value = null;\n',
    replace: '',
    tests: [SPEC],
  },
  {
    what: 'a key that is refused stays signed in',
    file: CONNECTION,
    find: 'if (error instanceof AuthenticationError) kind?.onRefused();\n  else if',
    replace: 'if',
    tests: [SPEC],
  },
  {
    what: 'the late response to one key signs another one out',
    file: CONNECTION,
    find: 'if (client === sluice.value) note(error);',
    replace: 'note(error);',
    tests: [SPEC],
  },
  {
    what: 'requests are sent although the limit is used up',
    file: CONNECTION,
    find: 'if (pause.value !== null) throw pause.value.error;',
    replace: '',
    tests: [SPEC],
  },
  {
    what: 'the used-up limit of one key holds back another',
    file: CONNECTION,
    find: '  apiKey.value = null;\n  pause.value = null;',
    replace: '  apiKey.value = null;',
    tests: [SPEC],
  },
  {
    what: 'messages of one account are shown to the next',
    file: DRAFT,
    find: 'if (apiKey.value === null) sent.value = [];',
    replace: '',
    tests: [SPEC],
  },
  {
    what: 'a message that is sent again is another one',
    file: DRAFT,
    find: "if (idempotencyKey === '') {",
    replace: "if (idempotencyKey !== '-') {",
    tests: [SPEC],
  },
  {
    what: 'the next message counts as the last one again',
    file: DRAFT,
    find: "export function changed(): void {\n  idempotencyKey = '';",
    replace: 'export function changed(): void {',
    tests: [SPEC],
  },
  {
    what: 'an event that comes late takes a message back',
    file: DRAFT,
    find: 'if (last !== undefined && next.updatedAt < last.at) return one;',
    replace: '',
    tests: [SPEC],
  },
  {
    what: "the operators' key is kept before it is known to be valid",
    file: OPERATORS,
    find: 'isSignedIn.value ? apiKey.value : null',
    replace: 'apiKey.value',
    tests: [SPEC],
  },
  {
    what: "the operators' key is kept after they signed out",
    file: OPERATORS,
    find: '  forgetKey(sentence);',
    replace: '  notice.value = sentence;',
    tests: [SPEC],
  },
  {
    what: 'a page without storage does not work',
    file: 'apps/portal/storage.ts',
    find: '  } catch {\n    // It lasts as long as the page, then.\n  }',
    replace: '  } finally {\n    // It lasts as long as the page, then.\n  }',
    tests: [SPEC],
  },
  {
    what: 'a message is shown as HTML',
    file: 'apps/portal/views/messages/body.tsx',
    find: 'nameHidden(isWhole ? text : `${beginning(text, SHOWN_LENGTH)}…`)',
    replace: '<span dangerouslySetInnerHTML={{ __html: text }} />',
    tests: [PORTAL_SPEC],
  },
  {
    what: 'a message that has ended can be cancelled',
    file: MESSAGE,
    find: "{data?.status === 'queued' && (",
    replace: "{data?.status !== 'queued' && (",
    tests: [PORTAL_SPEC],
  },
  {
    what: 'a message that was cancelled can be retried',
    file: MESSAGE,
    find: "{data?.status === 'failed' && (",
    replace: "{data?.status === 'cancelled' && (",
    tests: [PORTAL_SPEC],
  },
  {
    what: 'a key that only reads is offered changes',
    file: MESSAGE,
    find: "can('messages:send') && (",
    replace: "can('messages:read') && (",
    tests: [PORTAL_SPEC],
  },
  {
    what: 'the key is shown in the request to paste',
    file: 'apps/portal/components/messages/code.tsx',
    find: "<code>{text(apiKey === null ? '<API_KEY>' : SHOWN_KEY)}</code>",
    replace: '<code>{text(apiKey ?? SHOWN_KEY)}</code>',
    tests: [PORTAL_SPEC],
  },
];
