import { ReadBuffer, serializeMessage, STDIO_DEFAULT_MAX_BUFFER_SIZE } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CancelledNotificationSchema,
  ErrorCode,
  type JSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import { standardInput } from '../input/streams.js';
import { CliError } from '../support/exit-codes.js';

/** Standard input and output. That of the SDK forgets running calls when the input ends, and is silent about faults. */
export class Stdio implements Transport {
  onclose?: () => void;
  onmessage?: (message: JSONRPCMessage) => void;
  private readonly buffer = new ReadBuffer();
  private readonly unanswered: RequestId[] = [];
  private onAnswered = (): void => undefined;

  /** @param onMalformed gets a sentence about a line that is no message */
  constructor(private readonly onMalformed: (sentence: string) => void) {}

  start(): Promise<void> {
    return Promise.resolve();
  }

  /** Reads the input to its end, and waits for the responses. @throws CliError if a line is too long */
  async run(): Promise<void> {
    try {
      await this.read();
    } finally {
      while (this.unanswered.length > 0) await new Promise<void>((resolve) => (this.onAnswered = resolve));
    }
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (!('method' in message)) this.settle(message.id);
    process.stdout.write(serializeMessage(message));
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.onclose?.();
    return Promise.resolve();
  }

  private async read(): Promise<void> {
    let isInLine = false;
    for await (const chunk of standardInput() as AsyncIterable<Buffer>) {
      this.append(chunk);
      isInLine = chunk.at(-1) !== NEWLINE;
    }
    if (isInLine) this.append(Buffer.of(NEWLINE));
  }

  private append(chunk: Buffer): void {
    try {
      this.buffer.append(chunk);
    } catch {
      throw new CliError(`A line of the input is longer than ${STDIO_DEFAULT_MAX_BUFFER_SIZE / 1_048_576} MiB.`);
    }
    while (this.readMessage());
  }

  /** @returns whether there was a line */
  private readMessage(): boolean {
    let message: JSONRPCMessage | null;
    try {
      message = this.buffer.readMessage();
    } catch (error) {
      this.refuse(error instanceof SyntaxError);
      return true;
    }
    if (message !== null) this.receive(message);
    return message !== null;
  }

  private receive(message: JSONRPCMessage): void {
    if ('method' in message && 'id' in message) this.unanswered.push(message.id);
    // A cancelled call gets no response.
    const { data } = CancelledNotificationSchema.safeParse(message);
    if (data !== undefined) this.settle(data.params.requestId);
    this.onmessage?.(message);
  }

  private settle(id: RequestId | undefined): void {
    const at = this.unanswered.findIndex((one) => one === id);
    if (at >= 0) this.unanswered.splice(at, 1);
    this.onAnswered();
  }

  /** The line itself may contain secrets. */
  private refuse(isNoJson: boolean): void {
    const message = `A line of the input is ${isNoJson ? 'not JSON' : 'no JSON-RPC message of MCP'}.`;
    this.onMalformed(message);
    const code = isNoJson ? ErrorCode.ParseError : ErrorCode.InvalidRequest;
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } })}\n`);
  }
}

const NEWLINE = 10;
