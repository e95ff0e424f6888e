/** What users of the package do, with the package as they have loaded it. @returns what they have seen */
export async function use({ Sluice, SluiceError, verifyWebhook }, baseUrl, webhook) {
  const { apiKey } = await Sluice.signUp({ baseUrl, name: 'Acme' });
  const sluice = new Sluice({ apiKey: apiKey.key, baseUrl });
  await sluice.account.update({ delivery: 'pull' });

  const sent = [];
  const onConnect = async () => {
    sent.push(await sluice.messages.send('one', { deliverAt: new Date() }));
    sent.push(...(await sluice.messages.sendBatch([{ message: 'two' }, { message: 'three' }])));
  };
  const events = [];
  for await (const { type, message } of sluice.events({ onConnect })) {
    events.push(`${type}: ${message.message}`);
    if (events.length === 3) break;
  }

  const listed = [];
  for await (const { message } of sluice.messages.list({ limit: 2 })) listed.push(message);

  const consumed = [];
  for await (const message of sluice.consume({ concurrency: 2, limit: 3 })) {
    consumed.push(message.message);
    await message.ack();
  }

  const { headers, body, secret } = JSON.parse(webhook);
  const { data } = await verifyWebhook(headers, body, secret);
  return {
    statuses: sent.map(({ status }) => status),
    ...{ events, listed, consumed },
    webhook: data.message,
    windows: sluice.rateLimit.windows.map(({ name }) => name),
    errors: [
      await codeOf(sluice.messages.get('msg_1'), SluiceError),
      await codeOf(
        new Sluice({ apiKey: apiKey.key, baseUrl, deadlineMs: Number.MIN_VALUE }).account.get(),
        SluiceError,
      ),
      await codeOf(new Sluice({ apiKey: 'x', baseUrl: 'http://127.0.0.1:2', maxTries: 1 }).account.get(), SluiceError),
    ],
  };
}

async function codeOf(call, SluiceError) {
  try {
    await call;
  } catch (error) {
    if (error instanceof SluiceError) return error.code;
    throw error;
  }
  return null;
}
