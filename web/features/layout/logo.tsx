/** Sheaf's logo: three bound stalks. */
export function Logo({ size = 28 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="var(--color-primary)" />
      <path
        d="M9 6.5c3 5 3.6 7 3.6 9.5S12 21 9 25.5M16 6v20M23 6.5c-3 5-3.6 7-3.6 9.5s.6 5 3.6 9.5"
        fill="none"
        stroke="#fff"
        strokeWidth="2.4"
        strokeLinecap="round"
      />
      <path d="M9.5 16h13" stroke="var(--color-accent)" strokeWidth="3.2" strokeLinecap="round" />
    </svg>
  )
}
