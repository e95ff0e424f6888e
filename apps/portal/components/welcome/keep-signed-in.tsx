import { useId } from 'preact/hooks';

interface Props {
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
}

export function KeepSignedIn({ checked, onChange }: Props) {
  const hint = useId();
  return (
    <div class="field">
      <label class="check">
        <input
          type="checkbox"
          aria-describedby={hint}
          checked={checked}
          onChange={({ currentTarget }) => {
            onChange(currentTarget.checked);
          }}
        />
        <span>Keep me signed in</span>
      </label>
      <p class="hint" id={hint}>
        Stores the API key in this browser until you sign out. Whoever uses this browser can use the key.
      </p>
    </div>
  );
}
