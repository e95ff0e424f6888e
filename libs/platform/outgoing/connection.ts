import { Client, type Dispatcher } from 'undici';
import { AnswerBudget } from './answer-budget.js';
import { connect, type Reach } from './connect.js';
import { UnrequestedContinue } from './unrequested-continue.js';

export interface OutgoingRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface OutgoingAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The beginning of the body. */
  readonly body: Buffer;
}

export interface ConnectionOptions extends Reach {
  /**
   * Bytes of a body that are kept. The answer counts when these have arrived, or at the end of a shorter body. 0: as soon
   * as the headers have arrived.
   */
  readonly keptBytes: number;
}

/** How long a body may take after its headers, in milliseconds. */
const BODY_MS = 1_000;
/** The budget ends larger headers. The parser would make an error of each line beyond its own limit. */
const MAX_HEADER_BYTES = 1_048_576;
/** How long a connection waits for another request at most, whatever the receiver asks for, in milliseconds. */
const IDLE_MS = 4_000;

interface Exchange {
  readonly resolve: (answer: OutgoingAnswer) => void;
  readonly reject: (error: Error) => void;
  /** The connection can take another request. */
  readonly onFree: () => void;
}

/** A connection to one receiver, which answers one request at a time. What a receiver sends is bounded by `AnswerBudget`. */
export class Connection {
  private readonly client: Client;
  private budget: AnswerBudget | null = null;
  private unrequested = new UnrequestedContinue();
  private endConnecting = (): void => undefined;
  private isClosed = false;

  /** @param onClose called once */
  constructor(
    readonly origin: string,
    private readonly options: ConnectionOptions,
    private readonly onClose: (connection: Connection) => void,
  ) {
    this.client = new Client(origin, {
      connect: (target, callback) => {
        this.endConnecting = connect(options, target, (error, connected) => {
          this.endConnecting = () => undefined;
          if (connected === null) {
            callback(error, null);
          } else {
            this.budget = new AnswerBudget(connected.socket, connected.wire);
            connected.socket.on('data', (chunk: Buffer) => {
              this.unrequested.pass(chunk);
            });
            callback(null, connected.socket);
          }
        });
      },
      // The caller's signal ends a request.
      ...{ headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: MAX_HEADER_BYTES, pipelining: 1 },
      ...{ keepAliveTimeout: IDLE_MS, keepAliveMaxTimeout: IDLE_MS },
    });
    const close = () => {
      void this.close();
    };
    this.client.on('disconnect', close).on('connectionError', close);
  }

  /** Whether nothing has arrived for the latest request. */
  get isUnanswered(): boolean {
    return this.budget?.isUntouched ?? true;
  }

  /**
   * @param signal ends the request, unless its answer counts already
   * @param onFree called when another request may follow
   * @throws Error when there is no answer
   */
  async request(request: OutgoingRequest, signal: AbortSignal, onFree: () => void): Promise<OutgoingAnswer> {
    signal.throwIfAborted();
    const stop = () => {
      void this.close(signal.reason as Error);
    };
    signal.addEventListener('abort', stop, { once: true });
    try {
      this.budget?.renew();
      this.unrequested = new UnrequestedContinue();
      return await new Promise<OutgoingAnswer>((resolve, reject) => {
        this.client.dispatch({ ...request, method: 'POST' }, this.handler({ resolve, reject, onFree }));
      });
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  async close(error: Error | null = null): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    this.endConnecting();
    this.onClose(this);
    await this.client.destroy(error);
  }

  private handler({ resolve, reject, onFree }: Exchange): Dispatcher.DispatchHandler {
    const { keptBytes } = this.options;
    const kept: Buffer[] = [];
    let missing = keptBytes;
    let head: Pick<OutgoingAnswer, 'status' | 'headers'> | null = null;
    let timer: NodeJS.Timeout | undefined;
    const answer = () => {
      if (head !== null) resolve({ ...head, body: Buffer.concat(kept) });
    };
    return {
      onRequestStart: () => undefined,
      onResponseStart: (_controller, status, headers) => {
        this.budget?.count();
        // Informational: an answer follows.
        if (status < 200) return;
        this.budget?.admitBody();
        head = { status, headers };
        timer = setTimeout(() => {
          void this.close();
        }, BODY_MS);
        if (missing === 0) answer();
      },
      onResponseData: (_controller, chunk) => {
        this.budget?.count();
        if (missing === 0) return;
        const part = chunk.subarray(0, missing);
        kept.push(part);
        missing -= part.length;
        if (missing === 0) answer();
      },
      onResponseEnd: () => {
        clearTimeout(timer);
        // By then, undici has closed a connection that is not to be kept.
        queueMicrotask(() => {
          if (this.budget?.isOpen === true) onFree();
          answer();
        });
      },
      onResponseError: (_controller, error) => {
        clearTimeout(timer);
        if (head === null) reject(error);
        // Its status has decided by then.
        else answer();
        void this.close();
      },
    };
  }
}
