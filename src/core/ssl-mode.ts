/** Encryption modes of connections to databases, as PostgreSQL names them. */
export const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const

export type SslMode = (typeof SSL_MODES)[number]

/** Names of NocoDB's form, of drivers, and of MySQL's and MariaDB's programs. */
const OTHER_NAMES: Record<string, SslMode> = {
  no: 'disable',
  false: 'disable',
  '0': 'disable',
  disabled: 'disable',
  preferred: 'prefer',
  required: 'require',
  true: 'require',
  '1': 'require',
  'no-verify': 'require',
  'required-ca': 'verify-ca',
  'required-identity': 'verify-full',
  'verify-identity': 'verify-full',
}

/**
 * The encryption mode with this name, in any case; null for an unknown one.
 *
 * @example findSslMode('VERIFY_IDENTITY') // 'verify-full'
 */
export function findSslMode(name: string): SslMode | null {
  const plain = name.toLowerCase().replaceAll('_', '-')
  const mode = SSL_MODES.find((known) => known === plain)
  return mode ?? (Object.hasOwn(OTHER_NAMES, plain) ? (OTHER_NAMES[plain] ?? null) : null)
}
