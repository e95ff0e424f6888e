import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { accountForEach, OPERATOR, sharedApi } from '../support/api.js';
import { Cli, CLI_SCRIPT } from '../support/cli.js';
import { until } from '../support/processes.js';
import { Receiver } from '../support/receiver.js';

describe('The command line', () => {
  const api = sharedApi();
  const account = accountForEach(api);
  let cli: Cli;
  beforeEach(async () => {
    cli = new Cli({ SLUICE_BASE_URL: api.url, SLUICE_API_KEY: account.key });
    await api.ask(account, 'PATCH /account', { delivery: 'pull' });
  });
  afterEach(() => {
    cli.remove();
  });

  const file = (name: string) => join(cli.home, name);
  const lines = <T>(text: string) =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as T);
  const stateOf = async (id: string) => {
    const { status, failureReason } = (await api.ask(account, `GET /messages/${id}`)).body;
    return { status, failureReason };
  };

  it('tails changes, ends with Ctrl-C, and goes on after an event', async () => {
    const first = cli.start(['tail', '--json']);
    await first.printed('Waiting for changes');
    const before = await api.sent(account);
    await first.printed(before.id);
    first.signal('SIGINT');
    const { code, stdout } = await first.ended();
    const [event] = lines<{ id: string; type: string; message: { id: string } }>(stdout);
    expect({ code, event }).toMatchObject({ code: 0, event: { type: 'message.queued', message: { id: before.id } } });

    const missed = await api.sent(account);
    await api.ask(account, `POST /messages/${missed.id}/cancel`);
    const typed = await api.sent(account, { body: { message: 'hello', type: 'order.paid' } });
    const second = cli.start(['tail', '--after', event?.id ?? '', '--status', 'cancelled']);
    await second.printed(missed.id);
    const third = cli.start(['tail', '--after', event?.id ?? '', '--type', 'order.*']);
    await third.printed(typed.id);
    third.signal('SIGTERM');
    expect((await third.ended()).stdout).toMatch(new RegExp(`^\\S+Z\t${typed.id}\tqueued\torder\\.paid\thello\n$`));
    second.signal('SIGTERM');
    expect(await second.ended()).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(new RegExp(`^\\S+Z\t${missed.id}\tcancelled\t-\thello\n$`)) as string,
    });
  });

  it.each([['send'], ['send', '-'], ['send', '--batch'], ['login'], ['mcp']])(
    'does not take a folder for an empty input: %j %s',
    (...args) => {
      const folder = openSync(cli.home, 'r');
      const env = { ...process.env, SLUICE_BASE_URL: api.url, SLUICE_API_KEY: args[0] === 'login' ? '' : account.key };
      const { status, stderr } = spawnSync(process.execPath, [CLI_SCRIPT, ...args], {
        ...{ env, stdio: [folder, 'pipe', 'pipe'], encoding: 'utf8' },
      });
      closeSync(folder);
      expect({ status, stderr }).toEqual({ status: 2, stderr: 'error: Standard input is a folder: name a file.\n' });
    },
  );

  it('consumes: exit code 0 acknowledges a message, any other one rejects it', async () => {
    const [good, bad] = [await api.sent(account), await api.sent(account, { message: 'bad' })];
    const command = 'text=$(cat); echo "$SLUICE_MESSAGE_ID $SLUICE_ATTEMPT $text" >> got; [ "$text" != bad ] || exit 3';
    const ended = await cli.run(['consume', '--exec', command, '--concurrency', '2', '--limit', '2', '--json']);
    expect(ended).toMatchObject({ code: 0, stderr: expect.stringContaining('Waiting for messages') as string });
    const outcomes = lines<{ id: string; outcome: string; reason: string | null }>(ended.stdout);
    expect(outcomes.map(({ id, outcome, reason }) => [id, outcome, reason]).sort()).toEqual(
      [
        [good.id, 'acknowledged', null],
        [bad.id, 'rejected', 'exit code 3'],
      ].sort(),
    );
    expect(readFileSync(file('got'), 'utf8').split('\n').sort()).toEqual(
      ['', `${good.id} 1 hello`, `${bad.id} 1 bad`].sort(),
    );
    expect(await stateOf(good.id)).toEqual({ status: 'delivered', failureReason: null });
    expect(await stateOf(bad.id)).toEqual({ status: 'queued', failureReason: 'exit code 3' });
  });

  it('tells the command that consumes what else was sent', async () => {
    const fields = { type: 'order.paid', metadata: { region: 'eu' }, orderingKey: 'customer-17' };
    await api.sent(account, { body: { message: 'full', ...fields } });
    await api.sent(account, { message: 'bare' });
    const command =
      'echo "$(cat) ${SLUICE_MESSAGE_TYPE-none} ${SLUICE_MESSAGE_METADATA-none} ${SLUICE_MESSAGE_ORDERING_KEY-none}" >> sent';
    expect(await cli.run(['consume', '--exec', command, '--limit', '2'])).toMatchObject({ code: 0 });
    expect(readFileSync(file('sent'), 'utf8').split('\n').sort()).toEqual([
      ...['', 'bare none none none', 'full order.paid {"region":"eu"} customer-17'],
    ]);
  });

  it('rejects a message whose metadata no command can get, and goes on', async () => {
    const long = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`n${at}`, '\u0001'.repeat(500)]));
    const bad = await api.sent(account, { body: { message: 'bad', metadata: long } });
    const good = await api.sent(account);
    const ended = await cli.run(['consume', '--exec', 'true', '--limit', '2', '--json']);
    expect(ended).toMatchObject({ code: 0, stderr: expect.stringContaining('Waiting for messages') as string });
    const outcomes = lines<{ id: string; reason: string | null }>(ended.stdout);
    expect(outcomes.map(({ id, reason }) => [id, reason])).toEqual([
      [bad.id, 'the metadata is too long for an environment variable'],
      [good.id, null],
    ]);
  });

  it('finishes what it has begun to consume, and rejects it when it is interrupted again', async () => {
    const command = 'touch begun; until [ -e go ]; do sleep 0.05; done';
    const [patient, message] = [cli.start(['consume', '-x', command]), await api.sent(account)];
    await until(() => existsSync(file('begun')));
    patient.signal('SIGHUP');
    await patient.printed('Finishing what has begun');
    cli.file('go', '');
    expect(await patient.ended()).toMatchObject({ code: 0, stderr: expect.stringContaining('acknowledged') as string });
    expect(await stateOf(message.id)).toEqual({ status: 'delivered', failureReason: null });

    const [hasty, other] = [cli.start(['consume', '-x', 'touch again; sleep 60']), await api.sent(account)];
    await until(() => existsSync(file('again')));
    hasty.signal('SIGINT');
    await hasty.printed('Finishing what has begun');
    // The first ones count as one signal, as npx passes them on.
    await until(
      () => {
        if (hasty.stderr.includes('rejected')) return true;
        hasty.signal('SIGINT');
        return false;
      },
      120_000,
      () => hasty.stderr,
    ).catch((error: unknown) => error);
    expect(await hasty.ended()).toMatchObject({ code: 0 });
    expect(await stateOf(other.id)).toEqual({ status: 'queued', failureReason: 'ended by SIGTERM' });
  });

  it('fails when nobody reads the outcomes, or the service does not confirm one', async () => {
    for (let n = 0; n < 3; n++) await api.sent(account);
    const args = `consume --json --exec 'echo >> got'`;
    const script = `"${process.execPath}" "${CLI_SCRIPT}" ${args} | true; echo "\${PIPESTATUS[0]}"`;
    const unread = spawnSync('bash', ['-c', script], { env: cli.env, cwd: cli.home, encoding: 'utf8' });
    expect(unread).toMatchObject({
      stdout: '1\n',
      stderr: expect.stringContaining('The output was closed.') as string,
    });
    expect((await api.ask(account, 'GET /messages?status=delivered')).body.data).toHaveLength(
      readFileSync(file('got'), 'utf8').length,
    );

    const command = 'touch begun; until [ -e go ]; do sleep 0.05; done';
    const unconfirmed = cli.start(['consume', '--json', '--limit', '1', '--exec', command]);
    await until(() => existsSync(file('begun')));
    await api.ask(OPERATOR, `PATCH /admin/accounts/${account.id}`, { suspended: true });
    cli.file('go', '');
    const { code, stdout, stderr } = await unconfirmed.ended();
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('has not confirmed the outcome of 1 message') as string,
    });
    expect(lines(stdout)).toMatchObject([{ outcome: 'unknown', reason: null }]);
  });

  it('consumes only from an account that pulls, which it changes when it is told to', async () => {
    await api.ask(account, 'PATCH /account', { delivery: 'handler' });
    const refused = await cli.run(['consume', '--exec', 'cat']);
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('mode of the account is handler') as string,
    });
    const told = cli.start(['consume', '--exec', 'cat', '--yes']);
    await told.printed('Waiting for messages');
    await api.sent(account);
    await told.printed('hello');
    told.signal('SIGINT');
    expect(await told.ended()).toMatchObject({
      code: 0,
      stdout: 'hello',
      stderr: expect.stringContaining('To restore it: sluice delivery handler\n') as string,
    });
  });

  it('forwards messages to a local program as signed webhooks', async () => {
    const receiver = await Receiver.start();
    const path = '/hook?next=http://any';
    const url = receiver.url(path, (response, _, n) => response.writeHead(n === 1 ? 500 : 204).end());
    const fields = { type: 'order.paid', metadata: { region: 'eu' }, orderingKey: 'customer-17' };
    const { id } = await api.sent(account, { body: { message: 'first', ...fields } });
    await api.sent(account, { message: 'second' });
    const address = url.replace('http://127.0.0.1', 'localhost');
    const args = ['listen', '--forward-to', address, '--limit', '2', '--concurrency', '1', '--json'];
    const ended = await cli.run(args).finally(() => {
      receiver.stop();
    });
    expect(lines(ended.stdout)).toMatchObject([
      { id, outcome: 'rejected', reason: 'status 500' },
      { outcome: 'acknowledged', reason: null },
    ]);
    const secret = /whsec_\S+/.exec(ended.stderr)?.[0] ?? '';
    const [request] = receiver.at(path);
    expect(new Webhook(secret).verify(request?.body ?? '', request?.headers as Record<string, string>)).toEqual({
      type: 'order.paid',
      timestamp: expect.any(String) as string,
      data: { id, message: 'first', ...fields, createdAt: expect.any(String) as string },
    });
    expect(request?.headers['user-agent']).toMatch(/^Sluice\/\d/);
    const bodies = receiver.at(path).map(({ body }) => JSON.parse(body) as { type: string; data: object });
    const second = bodies.find(({ type }) => type === 'message');
    expect(Object.keys(second?.data ?? {})).toEqual(['id', 'message', 'createdAt']);
    // The same secret at the next start.
    expect(readFileSync(cli.credentials, 'utf8')).toContain(secret);
  });
});
