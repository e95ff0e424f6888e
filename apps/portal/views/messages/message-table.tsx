import type { Message } from '#client/index.js';
import { fieldsLine } from '../../components/messages/message-fields.js';
import { Status, Time } from '../../components/parts.js';
import { previewOf } from '../../text/format.js';
import { href } from '../../navigation/router.js';
import type { Selection } from './selection.js';

interface MessageTableProps {
  readonly messages: readonly Message[];
  /** Without it, rows cannot be selected. */
  readonly selection: Selection | null;
}

export function MessageTable({ messages, selection }: MessageTableProps) {
  const isAll = selection !== null && messages.length > 0 && messages.every(({ id }) => selection.ids.has(id));
  return (
    <table class="list links messages">
      <thead>
        <tr>
          <th scope="col">
            {selection !== null && (
              <input
                type="checkbox"
                aria-label="Select all that are shown"
                checked={isAll}
                onChange={() => {
                  selection.set(isAll ? [] : messages.map(({ id }) => id));
                }}
              />
            )}
            Status
          </th>
          <th scope="col">Message</th>
          <th scope="col" class="number wide">
            Attempts
          </th>
          <th scope="col" class="number wide">
            Created
          </th>
        </tr>
      </thead>
      <tbody>
        {messages.map((message) => (
          <tr key={message.id}>
            <td>
              {selection !== null && (
                <input
                  type="checkbox"
                  aria-label={`Select ${previewOf(message.message)}`}
                  checked={selection.ids.has(message.id)}
                  onChange={() => {
                    selection.toggle(message.id);
                  }}
                />
              )}
              <Status status={message.status} />
            </td>
            <td>
              <a class="row-link" href={href(`messages/${message.id}`)}>
                <bdi class="preview">{previewOf(message.message)}</bdi>
                {fieldsLine(message) !== '' && <bdi class="sub fields">{fieldsLine(message)}</bdi>}
                <code class="sub wide">{message.id}</code>
                <span class="sub narrow">
                  <Time at={message.createdAt} />
                </span>
              </a>
            </td>
            <td class="number wide">{message.attempts}</td>
            <td class="number wide">
              <Time at={message.createdAt} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
