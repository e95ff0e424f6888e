import { expectProblem, ownApi } from '../../support/api.js';

describe('POST /accounts responds 400 and stores nothing', () => {
  const api = ownApi();
  afterEach(async () => {
    expect(await api.sql('SELECT id FROM sluice.accounts')).toEqual([]);
    expect(await api.sql('SELECT id FROM sluice.api_keys')).toEqual([]);
  });

  it.each([
    ['is missing', {}],
    ['is null', { name: null }],
    ['is a number', { name: 1 }],
    ['is an array', { name: ['Acme'] }],
    ['is empty', { name: '' }],
    ['is blank', { name: ' \t\u00a0' }],
    ['has 101 characters', { name: 'a'.repeat(101) }],
    ['holds U+0000', { name: 'a\u0000' }],
    ['holds a lone surrogate', { name: 'a\ud800' }],
  ])('validation_failed when the name %s', async (_name, body) => {
    const { errors } = expectProblem(
      await api.ask(null, 'POST /accounts', JSON.stringify(body)),
      400,
      'validation_failed',
    );
    expect(errors).toEqual([{ pointer: '/name', detail: expect.stringMatching(/^name /) as string }]);
  });

  it.each(['null', '[]', '"Acme"'])('validation_failed to %s instead of an object', async (body) => {
    expectProblem(await api.ask(null, 'POST /accounts', body), 400, 'validation_failed');
  });

  it.each(['', '{', '{"name":"Acme"'])('invalid_json to %p', async (body) => {
    expectProblem(await api.ask(null, 'POST /accounts', body), 400, 'invalid_json');
  });

  it.each([undefined, 'text/plain'])('invalid_content_type to the Content-Type %s', async (type) => {
    const headers = { 'content-type': type };
    const answer = await api.ask(null, 'POST /accounts', '{"name":"Acme"}', headers);
    expectProblem(answer, 400, 'invalid_content_type');
  });
});
