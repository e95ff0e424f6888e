const TRANSPORT = 'libs/client/transport.ts';
const CALLS = 'test/client/calls.spec.ts';
const WEBHOOKS = 'libs/client/webhooks.ts';
const WEBHOOKS_SPEC = 'test/client/webhooks.spec.ts';
const CONSUME = 'libs/client/consume.ts';
const CONSUME_SPEC = 'test/client/consume.spec.ts';
const EVENTS = 'libs/client/events.ts';
const EVENTS_SPEC = 'test/client/events.spec.ts';
const PYTHON = 'test/clients/python.spec.ts';

export default [
  {
    what: 'each try has an idempotency key of its own',
    file: TRANSPORT,
    find: '          ...sent,\n          signal,',
    replace:
      "          ...sent,\n          headers: new Headers([...sent.headers].map(([name, value]) => [name, name === 'idempotency-key' ? value + startedAt : value])),\n          signal,",
    tests: [CALLS],
  },
  {
    what: 'two calls have the same idempotency key',
    file: 'libs/client/messages.ts',
    find: 'const bytes = crypto.getRandomValues(new Uint8Array(16));',
    replace: 'const bytes = new Uint8Array(16);',
    tests: [CALLS],
  },
  {
    what: 'a call that was refused for good is repeated',
    file: TRANSPORT,
    find: 'if (isLast || !error.isRetryable || !(repeatable || nothingDone)) throw error;',
    replace: 'if (isLast || !(repeatable || nothingDone)) throw error;',
    tests: [CALLS],
  },
  {
    what: 'a POST that cannot be repeated is repeated although its outcome is unknown',
    file: TRANSPORT,
    find: '!(repeatable || nothingDone)) throw error;',
    replace: 'nothingDone === null) throw error;',
    tests: [CALLS],
  },
  {
    what: 'a connection that broke counts as not sent',
    file: TRANSPORT,
    find: "syscall === 'connect' || syscall === 'getaddrinfo'",
    replace: "syscall !== ''",
    tests: [CALLS],
  },
  {
    what: 'a POST that was not sent is not repeated',
    file: TRANSPORT,
    find: 'error.status === 408 || wasNotSent(error);',
    replace: 'error.status === 408;',
    tests: [CALLS],
  },
  {
    what: 'Retry-After is not honoured',
    file: TRANSPORT,
    find: '(error.retryAfter ?? 0) * 1_000 + backoffMs(tries)',
    replace: 'backoffMs(tries)',
    tests: [CALLS],
  },
  {
    what: 'Retry-After as a date is not honoured',
    file: 'libs/client/errors.ts',
    find: 'Math.ceil((at - Date.now()) / 1_000)',
    replace: 'NaN',
    tests: [CALLS],
  },
  {
    what: 'other calls go on while one was told to wait',
    file: TRANSPORT,
    find: 'if (error instanceof RateLimitError) this.#pause.begin(error);',
    replace: '',
    tests: [CALLS],
  },
  {
    what: 'waits between tries do not grow',
    file: 'libs/client/timing.ts',
    find: 'FIRST_BACKOFF_MS * 2 ** (tries - 1)',
    replace: 'FIRST_BACKOFF_MS * tries ** 0',
    tests: [CALLS],
  },
  {
    what: 'a redirect makes a GET of a POST',
    file: TRANSPORT,
    find: "redirect: 'manual',",
    replace: "redirect: 'follow' as never,",
    tests: [CALLS],
  },
  {
    what: 'a deletion whose response was lost fails',
    file: TRANSPORT,
    find: "if (outcomeUnknown && method === 'DELETE'",
    replace: "if (outcomeUnknown && method === 'delete'",
    tests: [CALLS],
  },
  {
    what: 'a call goes on after its deadline',
    file: TRANSPORT,
    find: 'tries >= maxTries || performance.now() + waitMs > deadline',
    replace: 'tries >= maxTries',
    tests: [CALLS],
  },
  {
    what: 'an error has the password of the base URL',
    file: TRANSPORT,
    find: "url.username + url.password + url.search + url.hash !== ''",
    replace: "url.search + url.hash !== ''",
    tests: [CALLS],
  },
  {
    what: 'an invalid API key is in the error of fetch',
    file: TRANSPORT,
    find: "if (apiKey !== null && !/^[\\x21-\\x7e]+$/.test(apiKey ?? ''))",
    replace: "if (apiKey !== null && apiKey === '')",
    tests: [CALLS],
  },
  {
    what: 'an id leads to another path',
    file: TRANSPORT,
    find: '...ids.map(encodeURIComponent)',
    replace: '...ids',
    tests: [CALLS],
  },
  {
    what: 'a list ends after its first page',
    file: 'libs/client/list.ts',
    find: 'if (!nextCursor) return;',
    replace: 'if (nextCursor !== undefined) return;',
    tests: ['test/client/api.spec.ts'],
  },
  {
    what: 'an old signature of a webhook is accepted',
    file: WEBHOOKS,
    find: 'Math.abs(Date.now() / 1_000 - Number(timestamp)) > toleranceSeconds',
    replace: 'Number(timestamp) - Date.now() / 1_000 > toleranceSeconds',
    tests: [WEBHOOKS_SPEC],
  },
  {
    what: 'a signature of a webhook from the future is accepted',
    file: WEBHOOKS,
    find: 'Math.abs(Date.now() / 1_000 - Number(timestamp)) > toleranceSeconds',
    replace: 'Date.now() / 1_000 - Number(timestamp) > toleranceSeconds',
    tests: [WEBHOOKS_SPEC],
  },
  {
    what: 'only the first of several signatures counts',
    file: WEBHOOKS,
    find: "signatures.split(' ')",
    replace: "signatures.split(' ').slice(0, 1)",
    tests: [WEBHOOKS_SPEC],
  },
  {
    what: 'the id of a webhook is not signed',
    file: WEBHOOKS,
    find: '`${id}.${timestamp}.`',
    replace: '`${timestamp}.`',
    tests: [WEBHOOKS_SPEC],
  },
  {
    what: 'a signature of an unknown version is accepted',
    file: WEBHOOKS,
    find: "signature.startsWith('v1,') ? bytesOf(signature.slice(3)) : null",
    replace: "bytesOf(signature.replace(/^.*,/, ''))",
    tests: [WEBHOOKS_SPEC],
  },
  {
    what: 'the bytes of a body are changed before they are verified',
    file: WEBHOOKS,
    find: "typeof body === 'string' ? encoder.encode(body) : body,",
    replace: "encoder.encode(typeof body === 'string' ? body : new TextDecoder().decode(body)),",
    tests: [WEBHOOKS_SPEC],
  },
  {
    what: 'the lease of a held message is not extended',
    file: CONSUME,
    find: 'await sleep(this.#seconds * 500, settled, true);',
    replace: 'await sleep(this.#seconds * 5_000, settled, true);',
    tests: [CONSUME_SPEC],
  },
  {
    what: 'a handler is not told that its lease was lost',
    file: CONSUME,
    find: 'this.#lost.abort(isLost ? error : leaseLost(this.#lease, error));',
    replace: '',
    tests: [CONSUME_SPEC],
  },
  {
    what: 'messages are kept when their loop is left',
    file: CONSUME,
    find: '[...(isLeft ? held : next)]',
    replace: '[...next]',
    tests: [CONSUME_SPEC],
  },
  {
    what: 'more messages are leased than the loop asked for',
    file: CONSUME,
    find: 'max: Math.min(free, left)',
    replace: 'max: free',
    tests: [CONSUME_SPEC],
  },
  {
    what: 'an event that is incomplete when the connection is lost is passed on',
    file: EVENTS,
    find: "      else if (name === 'data') data.push(value);\n    }\n  }",
    replace:
      "      else if (name === 'data') data.push(value);\n    }\n  }\n  yield { id, event, data: data.join('\\n') };",
    tests: [EVENTS_SPEC],
  },
  {
    what: 'a stream on a dead connection waits for ever',
    file: EVENTS,
    find: 'const timer = setTimeout(close, SILENCE_MS);',
    replace: 'const timer = setTimeout(() => undefined, SILENCE_MS);',
    tests: [EVENTS_SPEC],
  },
  {
    what: 'an error of a listener of responses repeats the request',
    file: TRANSPORT,
    find: '        this.rateLimit = readRateLimit(response.headers) ?? this.rateLimit;',
    replace:
      '        this.rateLimit = readRateLimit(response.headers) ?? this.rateLimit;\n        this.#tell(response, sent.method, path, call);',
    tests: ['test/client/construction.spec.ts'],
  },
  {
    what: 'the Python client sends each try with another idempotency key',
    file: 'clients/python/sluice/transport.py',
    find: 'return self._try(request.Request(url, data, sent, method=method), max(seconds, 0.001), field)',
    replace:
      'sent = {name: value + str(tries) if name == "Idempotency-Key" else value for name, value in sent.items()}; return self._try(request.Request(url, data, sent, method=method), max(seconds, 0.001), field)',
    tests: [PYTHON],
  },
  {
    what: 'the Python client repeats what could be done twice',
    file: 'clients/python/sluice/transport.py',
    find: 'if is_last or not failure.is_retryable or not (can_repeat or is_nothing_done):',
    replace: 'if is_last or not failure.is_retryable:',
    tests: [PYTHON],
  },
  {
    what: 'the Python client extends no leases',
    file: 'clients/python/sluice/consume.py',
    find: 'while not self._settled.wait(self._seconds / 2):',
    replace: 'while not self._settled.wait(self._seconds * 50):',
    tests: [PYTHON],
  },
  {
    what: 'the Python client trusts every webhook',
    file: 'clients/python/sluice/webhooks.py',
    find: 'if version == "v1" and hmac.compare_digest(_bytes_of(encoded), expected):',
    replace: 'if version == "v1" and expected:',
    tests: [PYTHON],
  },
];
