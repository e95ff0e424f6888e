import type { Message } from '../../domain/message.js';

/** A message as the answer to its acceptance. */
export interface AcceptedView {
  readonly id: string;
  readonly message: string;
  readonly status: string;
  /** ISO 8601, UTC. */
  readonly createdAt: Date;
}

/** A message as it now is. */
export interface MessageView extends AcceptedView {
  /** Null when it was to be delivered at once. */
  readonly deliverAt: Date | null;
  readonly updatedAt: Date;
  readonly attempts: number;
  readonly failureReason: string | null;
}

export function acceptedView({ state }: Message): AcceptedView {
  return { id: state.id, message: state.text, status: state.status, createdAt: state.createdAt };
}

export function messageView(message: Message): MessageView {
  const { deliverAt, updatedAt, attempts, failureReason } = message.state;
  return { ...acceptedView(message), deliverAt, updatedAt, attempts, failureReason };
}
