import { isEmail } from './core/fields/checked-text.ts'
import { trimTrailing } from './core/trim-characters.ts'

/** One variable of the environment. */
export interface Variable<T> {
  /** Alternative names, for migrating an existing environment. */
  aliases?: string[]
  default: string
  help: string
  read(text: string, name: string): T
}

/** Infers the value type of a definition. */
export function variable<T>(definition: Variable<T> & { name: string }) {
  return definition
}

/*
 * Parsers of environment values. Each throws an Error that names the variable, its value unless secret, and what is
 * accepted.
 */

/** Any text. */
export function text(value: string): string {
  return value
}

/** Any text; null if unset. */
export function textOrNull(value: string): string | null {
  return value === '' ? null : value
}

/** A whole number within bounds. */
export function integer(min: number, max: number) {
  return (value: string, name: string): number => {
    const number = Number(value)
    if (Number.isInteger(number) && number >= min && number <= max) return number
    throw new Error(`${name} must be a whole number from ${min} to ${max}, not "${value}"`)
  }
}

/** `true`, `1`, `yes`, `on`, or `false`, `0`, `no`, `off`. */
export function boolean(value: string, name: string): boolean {
  if (/^(true|1|yes|on)$/i.test(value)) return true
  if (/^(false|0|no|off)$/i.test(value)) return false
  throw new Error(`${name} must be true or false, not "${value}"`)
}

/** One of the given words. */
export function oneOf<const T extends readonly string[]>(choices: T) {
  return (value: string, name: string): T[number] => {
    if (choices.includes(value)) return value
    throw new Error(`${name} must be one of ${choices.join(', ')}, not "${value}"`)
  }
}

/** At least 16 characters; null if unset. */
export function secret(value: string, name: string): string | null {
  if (value === '') return null
  if (value.length >= 16) return value
  throw new Error(`${name} must have 16 characters or more`)
}

/** An http or https address without trailing slash; null if unset. */
export function httpUrl(value: string, name: string): string | null {
  if (value === '') return null
  const url = URL.canParse(value) ? new URL(value) : null
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return trimTrailing(value, '/')
  throw new Error(`${name} must be an http or https address, not "${value}"`)
}

/** An http or https address without trailing slash. */
export function requiredHttpUrl(value: string, name: string): string {
  const url = httpUrl(value, name)
  if (url === null) throw new Error(`${name} must be an http or https address`)
  return url
}

/** An e-mail address, alone or as `Name <address>`; null if unset. */
export function mailbox(value: string, name: string): string | null {
  if (value === '') return null
  const address = /^(?:"[^"<>\p{Cc}]*" *|[^"<>,\p{Cc}]*)<([^<>]+)>$/u.exec(value)?.[1] ?? value
  // Mail servers inside a network go by names like `sheaf@localhost` too.
  if (isEmail(address) || /^[\w.+-]+@[\w-]+$/.test(address)) return value
  throw new Error(`${name} must be an e-mail address or "Name <address>", not "${value}"`)
}

/** URL template of map tiles with `{z}`, `{x}` and `{y}`; null if unset. */
export function tilesUrl(value: string, name: string): string | null {
  if (value === '') return null
  const isWhole = ['{z}', '{x}', '{y}'].every((part) => value.includes(part))
  const url = URL.canParse(value) ? new URL(value) : null
  // The host must be fixed, because the page's security policy allows images from it.
  const hasHost = url !== null && /^https?:$/.test(url.protocol) && !/[{}]|%7B/i.test(url.host)
  if (isWhole && hasHost) return value
  throw new Error(`${name} must be an http or https address with {z}, {x} and {y} in it, not "${value}"`)
}

/** URL of a PostgreSQL database; null if unset. Also accepts the form `pg://host:port?u=user&p=password&d=name`. */
export function postgresUrl(value: string, name: string): string | null {
  if (value === '') return null
  const url = URL.canParse(value) ? new URL(value) : null
  if (url?.protocol === 'postgres:' || url?.protocol === 'postgresql:') return value
  if (url?.protocol === 'pg:') {
    const query = url.searchParams
    const account = [query.get('u'), query.get('p')].map((part) => encodeURIComponent(part ?? '')).join(':')
    return `postgres://${account}@${url.host}/${encodeURIComponent(query.get('d') ?? '')}`
  }
  throw new Error(`${name} must begin with postgres:// (the password is not shown here)`)
}
