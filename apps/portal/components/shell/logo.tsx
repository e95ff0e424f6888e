export function Logo() {
  return (
    <svg class="logo" viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
      <rect width="32" height="32" rx="7" />
      <path d="M6 11h20M6 21h20" />
      <path class="logo-gate" d="M16 5v22" />
    </svg>
  );
}
