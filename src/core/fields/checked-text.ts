import * as z from 'zod/mini'
import { m } from '../messages.gen.ts'
import { type CellValue, defineFieldType, formatPlain, type Read, readFail } from './field-type.ts'
import { MAX_LINE_LENGTH, parseText, readText } from './text.ts'

/** Shapes of e-mail addresses, links and telephone numbers (spec §5), each checked in linear time. */

const MAX_EMAIL = 254 // RFC 5321 §4.5.3.1.3 less the angle brackets
const MAX_URL = 2083 // spec §5: shorter than this
const MAX_LABEL = 63 // spec §5, RFC 1035
const MAX_HOST = 253

const LOCAL_PART = /^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u
const LABEL = /^[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}_-]*[\p{L}\p{N}\p{M}])?$/u
const TOP_LEVEL = /^(?:\p{L}[\p{L}\p{M}]+|xn--[a-z0-9-]+)$/iu

/** True for an address such as `ann@example.com`. */
export function isEmail(text: string): boolean {
  if (text.length > MAX_EMAIL) return false
  const at = text.lastIndexOf('@')
  const local = text.slice(0, at)
  return at > 0 && local.length <= 64 && LOCAL_PART.test(local) && isDomain(text.slice(at + 1))
}

/** True for a host name with a top-level domain. */
function isDomain(host: string): boolean {
  const labels = host.split('.')
  const last = labels.at(-1) ?? ''
  return labels.length > 1 && TOP_LEVEL.test(last) && isHostName(host)
}

function isHostName(host: string): boolean {
  if (host.length > MAX_HOST) return false
  return host.split('.').every((label) => label.length <= MAX_LABEL && LABEL.test(label))
}

function isIpv4(host: string): boolean {
  const parts = host.split('.')
  return parts.length === 4 && parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) <= 255)
}

/**
 * True for a URL with http, https or ftp, or without a scheme if the host is a full domain. Limits: fewer
 * than 2083 characters, port 1 to 65535, host labels up to 63 characters.
 */
export function isUrl(
  text: string,
  { scheme = 'optional' }: { scheme?: 'optional' | 'required' } = {},
): boolean {
  if (text.length >= MAX_URL || /[\s<>"\\^`{|}]/.test(text)) return false
  const [, protocol, rest = ''] = /^(?:(https?|ftp):\/\/)?(.*)$/i.exec(text) ?? []
  if (protocol === undefined && scheme === 'required') return false
  const authority = /^[^/?#]*/.exec(rest)?.[0] ?? ''
  const hostAndPort = authority.slice(authority.lastIndexOf('@') + 1)
  const parts = /^(\[[\da-f:.]+\]|[^:]+)(?::(\d{1,5}))?$/i.exec(hostAndPort)
  if (!parts) return false
  const [, host = '', port] = parts
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) return false
  if (protocol === undefined) return !authority.includes('@') && isDomain(host)
  if (/^[\d.]+$/.test(host)) return isIpv4(host)
  return host.startsWith('[') ? host.includes('::') || host.split(':').length === 8 : isHostName(host)
}

/** True for 7 to 15 digits (E.164) with a leading plus, spaces, dots, hyphens or brackets between them. */
export function isPhone(text: string): boolean {
  if (text.length > 40 || !/^\+?[\d(][\d ()./-]*\d$/.test(text)) return false
  const digits = text.replace(/\D/g, '').length
  const balanced = !/[()]/.test(text.replace(/\(\d+\)/g, ''))
  return balanced && digits >= 7 && digits <= 15
}

/** Options of e-mail, link and telephone fields. */
type CheckedTextOptions = {
  /** Rejects malformed values. */
  validate: boolean
}

/**
 * Shared definition of e-mail, URL and telephone fields: text that is validated if the field requires it. The error
 * reads `Validation failed : isEmail` (spec §5).
 */
function checkedText(checkName: 'isEmail' | 'isURL' | 'isMobilePhone', check: (text: string) => boolean) {
  return {
    storage: 'text' as const,
    filters: 'text' as const,
    summaries: 'count' as const,
    options: z.object({ validate: z._default(z.boolean(), false) }),
    read(input: unknown, { validate }: CheckedTextOptions): Read {
      const read = readText(input, MAX_LINE_LENGTH)
      if (!read.ok || !validate || read.value === '' || check(String(read.value))) return read
      return readFail(`Validation failed : ${checkName}`, 'check')
    },
    parse(text: string, { validate }: CheckedTextOptions): CellValue {
      if (!validate || check(text)) return parseText(text, MAX_LINE_LENGTH)
      const trimmed = text.trim()
      return check(trimmed) ? trimmed : null
    },
    format: formatPlain,
  }
}

/** An e-mail address. */
export const email = defineFieldType({
  ...checkedText('isEmail', isEmail),
  name: 'Email',
  label: m.field_type_email,
  group: 'text',
  help: m.field_type_email_help,
  example: 'ann@example.com',
  family: 'text',
  naming: 'likely',
  optionsLimitValues: true,
  scannable: true,
  formRules: ['text', 'email'],
  databaseTypes: { sqlite3: 'varchar', pg: 'character varying' },
})

/** A telephone number, stored as entered. */
export const phoneNumber = defineFieldType({
  ...checkedText('isMobilePhone', isPhone),
  name: 'PhoneNumber',
  label: m.field_type_phone_number,
  group: 'text',
  help: m.field_type_phone_number_help,
  example: '+49 30 901820',
  naming: 'possible',
  family: 'text',
  optionsLimitValues: true,
  scannable: true,
  formRules: ['text', 'phone'],
  databaseTypes: { sqlite3: 'varchar', pg: 'character varying' },
})

/** A URL of a page or file. */
export const url = defineFieldType({
  ...checkedText('isURL', isUrl),
  name: 'URL',
  label: m.field_type_url,
  group: 'text',
  help: m.field_type_url_help,
  example: 'https://example.com/plan',
  naming: 'possible',
  family: 'text',
  excel: 'link',
  optionsLimitValues: true,
  scannable: true,
  formRules: ['text', 'url'],
  databaseTypes: { sqlite3: 'varchar', pg: 'text' },
})
