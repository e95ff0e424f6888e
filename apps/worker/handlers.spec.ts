import type { FactoryProvider } from '@nestjs/common';
import { Environment } from '#platform/process/environment.js';
import { UsageError } from '#platform/process/usage-error.js';
import { chosenHandler } from './handlers.js';

describe('In a folder that has been deleted, the handler', () => {
  beforeEach(() =>
    jest.spyOn(process, 'cwd').mockImplementation(() => {
      throw Object.assign(new Error('ENOENT: no such file or directory, uv_cwd'), { code: 'ENOENT' });
    }),
  );
  afterEach(() => jest.restoreAllMocks());

  const choose = (HANDLER: string) => chosenHandler(new Environment({ HANDLER }));

  it.each(['./handler.js', 'a-package'])('%s is refused with a sentence that names the cause', async (name) => {
    await expect(choose(name)).rejects.toThrow(
      `HANDLER names "${name}", but the folder in which this process was started does not exist any more: start it in another one.`,
    );
  });

  it('log needs none', async () => {
    expect(await choose('log')).toBeNull();
  });
});

describe('A handler of Sluice', () => {
  /** What keeps the worker from starting. */
  const refusal = async (variables: Record<string, string>) => {
    const environment = new Environment(variables);
    const providers: unknown = Reflect.getMetadata('providers', (await chosenHandler(environment)) ?? Object);
    const [provider] = providers as FactoryProvider<unknown>[];
    try {
      provider?.useFactory(environment);
      return null;
    } catch (error) {
      if (error instanceof UsageError) return error.message;
      throw error;
    }
  };
  const EMAIL = {
    ...{ HANDLER: 'email', EMAIL_HANDLER_SERVER: 'smtp://127.0.0.1' },
    ...{ EMAIL_HANDLER_FROM: 'a@mail.example', EMAIL_HANDLER_TO: 'b@mail.example' },
  };
  const HTTP_URL = 'HTTP_HANDLER_URL must be a URL that begins with http:// or https://.';

  it.each([
    [{ HANDLER: 'http' }, 'HTTP_HANDLER_URL is required: where to post messages.'],
    [{ HANDLER: 'http', HTTP_HANDLER_URL: 'ftp://user:hunter2@receiver.example' }, HTTP_URL],
    [{ ...EMAIL, EMAIL_HANDLER_FROM: '' }, 'EMAIL_HANDLER_FROM is required: the sender address of e-mails.'],
    [{ ...EMAIL, EMAIL_HANDLER_TO: '' }, 'EMAIL_HANDLER_TO is required: the recipient of e-mails.'],
  ])('does not start with %j', async (variables, sentence) => {
    expect(await refusal(variables)).toBe(sentence);
  });

  it.each(['user:%ff', 'user:%00', '%e4:secret', 'user:%C3'])('refuses the credentials %s in a URL', async (login) => {
    const sentence = 'must be percent-encoded as UTF-8, without %00.';
    const http = { HANDLER: 'http', HTTP_HANDLER_URL: `http://${login}@receiver.example` };
    expect(await refusal(http)).toBe(`HTTP_HANDLER_URL ${sentence}`);
    const email = { ...EMAIL, EMAIL_HANDLER_SERVER: `smtp://${login}@mail.example` };
    expect(await refusal(email)).toBe(`EMAIL_HANDLER_SERVER ${sentence}`);
  });

  it.each([
    ...['a@mail.example, b@mail.example', 'a@mail.example; b@mail.example', 'a@mail.example b@mail.example'],
    ...['<a@mail.example> <b@mail.example>', 'a@mail.example\nb@mail.example', 'a@mail.example, b'],
    ...['Team: a@mail.example, b@mail.example;', 'Team: a@mail.example;', 'Team:;'],
    ...['nobody', '<nobody>', 'Sluice <nobody>', 'a; b', 'a@', '@mail.example', '@', 'Sluice <@>'],
    ...['a@b@mail.example', 'a@mail.example>', ' ', ',', 'https://mail.example'],
  ])('refuses %j as the address of an e-mail', async (address) => {
    for (const name of ['EMAIL_HANDLER_FROM', 'EMAIL_HANDLER_TO']) {
      expect(await refusal({ ...EMAIL, [name]: address })).toBe(
        `${name} must be one e-mail address; it is "${address}".`,
      );
    }
  });

  it.each([
    ...['a@mail.example', '<a@mail.example>', 'Sluice <a@mail.example>', '"Grüße, Sluice" <a@mail.example>'],
    ...['Müller, Hans <h@mail.example>', 'grüße@mail.example', 'a@müller.example', 'root@localhost', 'a@[127.0.0.1]'],
    ...['a+b@mail.example', '"a b"@mail.example', "o'neil@mail.example", 'a@mail.example (Sluice)'],
  ])('takes %j as the address of an e-mail', async (address) => {
    expect(await refusal({ ...EMAIL, EMAIL_HANDLER_FROM: address, EMAIL_HANDLER_TO: address })).toBeNull();
  });
});
