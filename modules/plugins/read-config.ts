import { isEmail } from '../../src/core/fields/checked-text.ts'
import type {
  PluginConfig,
  PluginDefinition,
  PluginInput,
  PluginInputFormat,
  PluginValues,
} from '../../src/core/plugins/index.ts'
import { SECRET_MASK } from '../../src/core/plugins/index.ts'
import { m } from '../../src/messages.gen.ts'

/** Most characters of a value. Addresses: spec §5. */
const MAX_LENGTH = 2083
/** Most channels of a plugin. */
const MAX_CHANNELS = 100

/** Why a configuration is refused: the key of the value, and the position of its channel in a list. */
export interface PluginProblem {
  key: string | null
  index: number | null
  message: string
}

/** Checks of texts, in linear time. Each is named by its message. */
const FORMATS: Record<PluginInputFormat, { isValid(text: string): boolean; problem(label: string): string }> =
  {
    address: { isValid: isHttpAddress, problem: (label) => m.plugins_error_address({ label }) },
    host: {
      isValid: (text) => text.length <= 253 && /^[A-Za-z0-9.-]+$/.test(text),
      problem: (label) => m.plugins_error_host({ label }),
    },
    mailbox: { isValid: isMailbox, problem: (label) => m.plugins_error_mailbox({ label }) },
    name: {
      isValid: (text) => text.length <= 255 && /^[A-Za-z0-9._-]+$/.test(text),
      problem: (label) => m.plugins_error_name({ label }),
    },
    port: {
      isValid: (text) => /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535,
      problem: (label) => m.plugins_error_port({ label }),
    },
    region: {
      isValid: (text) => text.length <= 63 && /^[A-Za-z0-9-]+$/.test(text),
      problem: (label) => m.plugins_error_region({ label }),
    },
  }

/**
 * Checks a configuration. Unknown keys are left out: NocoDB's plugins have inputs that have no effect here.
 *
 * @returns the values, and what is wrong with them; the values are usable if nothing is
 */
export function readPluginConfig(
  definition: PluginDefinition,
  input: unknown,
): { config: PluginConfig; problems: PluginProblem[] } {
  const problems: PluginProblem[] = []
  if (!definition.isList) {
    return { config: readValues(definition, input, null, problems), problems }
  }
  const items = Array.isArray(input) ? input : []
  if (items.length === 0) problems.push({ key: null, index: null, message: m.plugins_error_no_channel() })
  if (items.length > MAX_CHANNELS) {
    const message = m.plugins_error_too_many_channels({ max: MAX_CHANNELS })
    return { config: [], problems: [{ key: null, index: null, message }] }
  }
  const names = new Set<unknown>()
  const config = items.map((item, index) => {
    const values = readValues(definition, item, index, problems)
    if (names.has(values.channel)) {
      problems.push({
        key: 'channel',
        index,
        message: m.plugins_error_channel_twice({ channel: String(values.channel) }),
      })
    }
    names.add(values.channel)
    return values
  })
  return { config, problems }
}

function readValues(
  { inputs }: PluginDefinition,
  input: unknown,
  index: number | null,
  problems: PluginProblem[],
): PluginValues {
  const given = typeof input === 'object' && input !== null && !Array.isArray(input) ? input : {}
  const known = new Map<string, unknown>(Object.entries(given))
  const values: PluginValues = {}
  for (const spec of inputs) {
    const value = readValue(spec, known.get(spec.key))
    if (value.problem !== null) problems.push({ key: spec.key, index, message: value.problem })
    else if (value.value !== null) values[spec.key] = value.value
  }
  return values
}

function readValue(
  spec: PluginInput,
  raw: unknown,
): { value: string | number | boolean | null; problem: null } | { problem: string } {
  const label = spec.label()
  if (spec.kind === 'switch') {
    if (raw === undefined || raw === null || raw === '') return { value: spec.isOn === true, problem: null }
    if (raw === true || raw === 'true' || raw === 1) return { value: true, problem: null }
    if (raw === false || raw === 'false' || raw === 0) return { value: false, problem: null }
    return { problem: m.plugins_error_switch({ label }) }
  }
  if (raw !== undefined && raw !== null && typeof raw !== 'string' && typeof raw !== 'number') {
    return { problem: m.plugins_error_text({ label }) }
  }
  const text = raw === undefined || raw === null ? '' : String(raw).trim()
  if (text === '') return spec.isRequired ? { problem: m.plugins_error_required({ label }) } : noValue
  if (text.length > MAX_LENGTH) return { problem: m.plugins_error_too_long({ label, max: MAX_LENGTH }) }
  // A line break would start another header or command in the protocols of mail servers.
  if (/\p{Cc}/u.test(text)) return { problem: m.plugins_error_text({ label }) }
  const format = spec.format && FORMATS[spec.format]
  if (format && !format.isValid(text)) return { problem: format.problem(label) }
  return { value: spec.kind === 'number' ? Number(text) : text, problem: null }
}

const noValue = { value: null, problem: null } as const

function isHttpAddress(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null
  return (
    (url?.protocol === 'http:' || url?.protocol === 'https:') && url.username === '' && url.password === ''
  )
}

/** An address, alone or as `Name <address>`. */
function isMailbox(text: string): boolean {
  const [, name, inside] = /^([^<>]*)<([^<>]*)>$/.exec(text) ?? []
  const address = inside ?? text
  // Mail servers inside a network go by names like `sheaf@localhost` too.
  const isAddress = isEmail(address) || /^[\w.+-]+@[\w-]+$/.test(address)
  return isAddress && (name === undefined || /^(?:"[^"]*" *|[^",]*)$/.test(name))
}

/** True for a secret that a client has left as it was. */
const isUntouched = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || value === SECRET_MASK

/**
 * Completes what a client sends by the stored secrets that it has left masked or empty. In a list, a channel is
 * recognized by its name. A secret is forgotten with the value that it is used with.
 *
 * @returns the problems of secrets that have to be entered again, because they would go to another server
 */
export function withStoredSecrets(
  definition: PluginDefinition,
  input: unknown,
  stored: PluginConfig | null,
): { input: unknown; problems: PluginProblem[] } {
  const problems: PluginProblem[] = []
  function complete(item: unknown, known: PluginValues | undefined, index: number | null): unknown {
    if (typeof item !== 'object' || item === null) return item
    const values: Record<string, unknown> = { ...item }
    const text = (value: unknown) => (value === undefined || value === null ? '' : String(value).trim())
    const isElsewhere = definition.inputs.some(
      ({ isDestination, key }) => isDestination && text(values[key]) !== text(known?.[key]),
    )
    for (const { key, kind, label, usedWith } of definition.inputs) {
      if (kind !== 'secret' || !isUntouched(values[key])) continue
      delete values[key]
      if (usedWith !== undefined && text(values[usedWith]) === '') continue
      const secret = known?.[key]
      if (secret === undefined) continue
      if (isElsewhere) {
        problems.push({ key, index, message: m.plugins_error_enter_again({ label: label() }) })
      }
      values[key] = secret
    }
    return values
  }
  if (!definition.isList) {
    return {
      input: complete(input, Array.isArray(stored) ? undefined : (stored ?? undefined), null),
      problems,
    }
  }
  const channels = Array.isArray(stored) ? stored : []
  const nameOf = (item: unknown) =>
    typeof item === 'object' && item !== null && 'channel' in item ? String(item.channel).trim() : ''
  const completed = Array.isArray(input)
    ? input.map((item, index) => {
        const known = channels.find(({ channel }) => channel === nameOf(item))
        return complete(item, known, index)
      })
    : input
  return { input: completed, problems }
}

/** The configuration as clients see it: stored secrets are masked. */
export function maskSecrets(definition: PluginDefinition, config: PluginConfig): PluginConfig {
  const mask = (values: PluginValues): PluginValues => {
    const masked = { ...values }
    for (const { key, kind } of definition.inputs) {
      if (kind === 'secret' && key in masked) masked[key] = SECRET_MASK
    }
    return masked
  }
  return Array.isArray(config) ? config.map(mask) : mask(config)
}
