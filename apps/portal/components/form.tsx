import type { ComponentChildren } from 'preact';

interface FormProps {
  readonly class?: string;
  readonly onSubmit: () => void;
  readonly children: ComponentChildren;
}

/** A form that the page submits itself, not the browser: once for each time that a key is pressed. */
export function Form({ class: className, onSubmit, children }: FormProps) {
  return (
    <form
      class={className}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
      onKeyDown={(event) => {
        const isNewLine = event.target instanceof HTMLTextAreaElement;
        if (event.key === 'Enter' && event.repeat && !isNewLine) event.preventDefault();
      }}
    >
      {children}
    </form>
  );
}
