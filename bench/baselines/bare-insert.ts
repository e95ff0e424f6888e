/** The minimum that stores a message: bare Fastify with one INSERT and one commit per request. */
import Fastify from 'fastify';
import pg from 'pg';
import { acceptedAt, BODY, serve } from './same-response.js';

const INSERT = `
  INSERT INTO sluice.messages (id, account_id, text, status, created_at, updated_at)
  VALUES ($1, $2, $3, 'queued', $4, $4)`;

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
const fastify = Fastify();
fastify.post<{ Body: { message: string } }>('/messages', { schema: { body: BODY } }, async (request, reply) => {
  const accepted = acceptedAt(new Date(), request.body.message);
  await pool.query({
    name: 'insert',
    text: INSERT,
    values: [accepted.id, process.env.ACCOUNT_ID, accepted.message, accepted.createdAt],
  });
  return reply.code(202).header('location', `/messages/${accepted.id}`).send(accepted);
});
await serve(fastify);
