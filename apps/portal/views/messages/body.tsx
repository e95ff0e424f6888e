import { useRef, useState } from 'preact/hooks';
import { Button, CopyButton } from '../../components/button.js';
import { Card } from '../../components/parts.js';
import { beginning, byteLength, formatBytes } from '../../text/format.js';
import { nameHidden } from '../../text/hidden-characters.js';
import { prettyJson, type Token } from './json.js';

/** More makes browsers slow, and nobody reads it. */
const SHOWN_LENGTH = 4_000;

/** The text of a message: JSON on indented lines, unless it is wanted as it was sent. */
export function Body({ text }: { text: string }) {
  const body = useRef<HTMLPreElement>(null);
  const [isWhole, setIsWhole] = useState(text.length <= SHOWN_LENGTH);
  const [isAsSent, setIsAsSent] = useState(false);
  const tokens = isWhole ? prettyJson(text) : null;
  return (
    <Card
      title="Message"
      actions={
        <div class="actions">
          {tokens !== null && (
            <Button
              onClick={() => {
                setIsAsSent(!isAsSent);
              }}
            >
              {isAsSent ? 'Indent' : 'As sent'}
            </Button>
          )}
          <CopyButton text={text} what="message" />
        </div>
      }
    >
      <pre ref={body} class="body" dir="auto" tabIndex={0} aria-label="The text of the message">
        {tokens !== null && !isAsSent ? (
          <Json tokens={tokens} />
        ) : (
          nameHidden(isWhole ? text : `${beginning(text, SHOWN_LENGTH)}…`)
        )}
      </pre>
      {!isWhole && (
        <Button
          onClick={() => {
            setIsWhole(true);
            body.current?.focus();
          }}
        >
          Show all {formatBytes(byteLength(text))}
        </Button>
      )}
    </Card>
  );
}

function Json({ tokens }: { tokens: readonly Token[] }) {
  return (
    <>
      {tokens.map(({ kind, text }, index) =>
        kind === 'plain' ? (
          text
        ) : (
          <span key={index} class={`json-${kind}`}>
            {nameHidden(text)}
          </span>
        ),
      )}
    </>
  );
}
