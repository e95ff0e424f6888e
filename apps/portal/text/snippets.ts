export const LANGUAGES = ['curl', 'TypeScript', 'Python', 'Go'] as const;
export type Language = (typeof LANGUAGES)[number];

/** How to run what is pasted; curl runs as it is. */
export const COMMANDS: Readonly<Record<Language, string>> = {
  curl: 'Paste it into a terminal.',
  TypeScript: 'Save it as send.ts and run: node send.ts (Node.js 22.18 or newer)',
  Python: 'Save it as send.py and run: python3 send.py',
  Go: 'Save it as send.go and run: go run send.go',
};

/** A request that sends a message, with no packages to install. */
export function snippet(language: Language, baseUrl: string, key: string): string {
  switch (language) {
    case 'curl':
      return `curl ${baseUrl}/messages \\
  -H 'Authorization: Bearer ${key}' \\
  -H 'Content-Type: application/json' \\
  -d '{"message":"Hello, Sluice"}'`;
    case 'TypeScript':
      return `const response = await fetch('${baseUrl}/messages', {
  method: 'POST',
  headers: {
    'Authorization': 'Bearer ${key}',
    'Content-Type': 'application/json',
    'Idempotency-Key': crypto.randomUUID(),
  },
  body: JSON.stringify({ message: 'Hello, Sluice' }),
});
console.log(response.status, await response.json());
export {};`;
    case 'Python':
      return `import json, urllib.request, uuid

request = urllib.request.Request(
    "${baseUrl}/messages",
    data=json.dumps({"message": "Hello, Sluice"}).encode(),
    headers={
        "Authorization": "Bearer ${key}",
        "Content-Type": "application/json",
        "Idempotency-Key": str(uuid.uuid4()),
    },
)
with urllib.request.urlopen(request) as response:
    print(response.status, json.load(response))`;
    case 'Go':
      return `package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
)

func main() {
	body := strings.NewReader(\`{"message":"Hello, Sluice"}\`)
	request, _ := http.NewRequest("POST", "${baseUrl}/messages", body)
	request.Header.Set("Authorization", "Bearer ${key}")
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	fmt.Println(response.Status, string(text))
}`;
  }
}

/** For receivers of webhooks: without packages, as docs/webhooks.md has it. */
export const VERIFY_SNIPPET = `import { createHmac, timingSafeEqual } from 'node:crypto';

const key = Buffer.from(process.env.WEBHOOK_SECRET.replace('whsec_', ''), 'base64');

/** @param headers those of a request of node:http; body its bytes, before they are parsed */
export function isGenuine(headers, body) {
  const timestamp = headers['webhook-timestamp'];
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300)) return false;
  const expected = createHmac('sha256', key).update(\`\${headers['webhook-id']}.\${timestamp}.\`).update(body).digest();
  return String(headers['webhook-signature'])
    .split(' ')
    .map((signature) => Buffer.from(signature.replace('v1,', ''), 'base64'))
    .some((signature) => signature.length === expected.length && timingSafeEqual(signature, expected));
}`;

/** For those who pull messages. */
export const leaseSnippet = (baseUrl: string, key: string): string => `curl ${baseUrl}/messages/lease \\
  -H 'Authorization: Bearer ${key}' \\
  -H 'Content-Type: application/json' \\
  -d '{"max":10,"seconds":60,"wait":20}'`;

/** For those who have no endpoint yet. */
export const endpointSnippet = (baseUrl: string, key: string): string => `curl ${baseUrl}/endpoints \\
  -H 'Authorization: Bearer ${key}' \\
  -H 'Content-Type: application/json' \\
  -d '{"url":"https://example.com/hooks"}'`;

/** For those without an account: it works as it is. */
export const signUpSnippet = (baseUrl: string): string => `curl ${baseUrl}/accounts \\
  -H 'Content-Type: application/json' \\
  -d '{"name":"Acme"}'`;
