import type { Message, NewMessage } from '#client/index.js';

/** What a message was made of, without its time: to be sent again. */
export function contentOf({ message, type, metadata, orderingKey }: Message): NewMessage {
  return {
    message,
    ...(type !== undefined && { type }),
    ...(metadata !== undefined && { metadata }),
    ...(orderingKey !== undefined && { orderingKey }),
  };
}

export const PROGRAMS = ['curl', 'CLI', 'TypeScript'] as const;

/** Sends a message again, with the key that is in the environment. */
export function programFor(program: (typeof PROGRAMS)[number], message: Message, baseUrl: string): string {
  const content = contentOf(message);
  switch (program) {
    case 'curl':
      return `curl ${baseUrl}/messages \\
  -H "Authorization: Bearer $SLUICE_API_KEY" \\
  -H 'Content-Type: application/json' \\
  --data-binary @- <<'JSON'
${JSON.stringify(content)}
JSON`;
    case 'CLI':
      // A line of JSON needs no quotes, whatever the text is.
      return `sluice send --base-url ${baseUrl} --batch --jsonl <<'JSON'
${JSON.stringify(content)}
JSON`;
    case 'TypeScript':
      return `import { Sluice } from '@sluice/client';

// SLUICE_BASE_URL=${baseUrl} and SLUICE_API_KEY are in the environment.
const sluice = Sluice.fromEnv();
const { id } = await sluice.messages.send(${JSON.stringify(content, null, 2)});
console.log(id);`;
  }
}
