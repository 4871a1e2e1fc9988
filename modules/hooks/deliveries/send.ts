import { createHmac } from 'node:crypto'
import { nowMs } from '../../../src/clock.ts'
import { AppError } from '../../../src/core/errors.ts'
import type { HookPayload, HookTestResult, ReceivedResponse, SentRequest } from '../../../src/core/hooks.ts'
import {
  isProblem,
  parseTemplate,
  RenderError,
  renderTemplate,
  type Template,
} from '../../../src/core/templates/template.ts'
import { createMutex } from '../../../src/db/mutex.ts'
import { createHttpClient, HttpFailure, type HttpFailureReason } from '../../../src/http.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import { unseal } from '../../../src/secrets.ts'
import {
  type Channel,
  type ChannelServices,
  findChannel,
  type HttpDelivery,
  type MailDelivery,
  type Render,
} from '../channels/index.ts'
import type { HookRow } from '../store.ts'

const TIMEOUT_MS = 30_000
/** Sizes in the log, in characters. */
const LOGGED_REQUEST = 64_000
const LOGGED_RESPONSE = 16_000
const LOGGED_HEADERS = 100
const LOGGED_HEADER = 1_000
const MAX_ERROR = 1_000
const MASK = '••••'
/** How long a mail beyond the hourly limit waits. */
const MAIL_PAUSE_MS = 900_000
/** The longest wait that a receiver may ask for. */
const MAX_RETRY_AFTER_MS = 24 * 3_600_000

/** Where to deliver events, with what they are signed and rendered with. */
export interface Target {
  channel: Channel
  payload: object
  secret: string
  /** Of its mails, which are limited per hour. */
  mailTopic: string
  /** Parsed templates by kind and text. */
  templates: Map<string, Template>
}

/** The target of a stored webhook; null if its settings cannot be read: sealed with another key, or of an unknown channel. */
export function openTarget(
  hook: Pick<HookRow, 'id' | 'channel' | 'payload' | 'secret'>,
  key: Uint8Array,
): Target | null {
  const channel = findChannel(hook.channel)
  const payload = unseal(key, hook.payload)
  const secret = unseal(key, hook.secret)
  if (!channel || payload === null || secret === null) return null
  const parsed = channel.payload.safeParse(JSON.parse(payload))
  if (!parsed.success) return null
  return { channel, payload: parsed.data, secret, mailTopic: mailTopicOf(hook.id), templates: new Map() }
}

/** The topic of the mails of a webhook, or of its tests before it is stored. */
export const mailTopicOf = (hookId: string): string => `hook ${hookId}`

/** The outcome of one try. */
export interface Attempt extends HookTestResult {
  /** Trying again would have the same outcome. */
  isFinal: boolean
  /** Nothing was sent: it waits for room under a limit, which costs none of its tries. */
  isHeld: boolean
  /** When the receiver wants to be called again; null: it does not say. */
  retryAfterMs: number | null
  /** Of several receivers, those that have the event by now; null if there is one. */
  receivedBy: string[] | null
}

/** Names of failures, as the HTTP client of the reference calls them (wire §11). */
const FAILURE_CODES: Record<HttpFailureReason, string> = {
  'invalid address': 'ERR_INVALID_URL',
  'invalid header': 'ERR_INVALID_CHAR',
  'private address': 'ERR_PRIVATE_ADDRESS',
  'unknown host': 'ENOTFOUND',
  timeout: 'ECONNABORTED',
  refused: 'ECONNREFUSED',
  certificate: 'ERR_TLS_CERT',
  unreachable: 'ECONNRESET',
  redirects: 'ERR_FR_TOO_MANY_REDIRECTS',
  status: 'ERR_BAD_RESPONSE',
}
const FINAL: ReadonlySet<HttpFailureReason> = new Set(['invalid address', 'invalid header'])
/** The receiver is gone for good (RFC 9110 §15.5.11). */
const GONE = 410

/** Sends events to receivers. */
export function createSender({ config, mail }: Pick<Kernel, 'config' | 'mail'>, services: ChannelServices) {
  const http = createHttpClient(config)
  const max = config.webhookMailsPerHour
  const oneByOne = createMutex()

  async function sendMail(
    outgoing: MailDelivery,
    { mailTopic: topic }: Target,
    { event, mask }: { event: HookPayload; mask: Mask },
  ): Promise<Partial<Attempt>> {
    const request = loggedMail(outgoing, mask)
    if (!mail.isConfigured) {
      return { request, error: { code: 'ERR_NO_MAIL', message: m.hooks_error_no_mail() } }
    }
    const { recipients, subject, body } = outgoing
    const content = { subject, blocks: [{ kind: 'text' as const, text: body }] }
    // A loop of webhooks must not send mails without end.
    return oneByOne(async () => {
      if ((await mail.countEvents(topic)) >= max) {
        const error = { code: 'ERR_MAIL_LIMIT', message: m.hooks_error_mail_limit({ max }) }
        return { request, isHeld: true, retryAfterMs: MAIL_PAUSE_MS, error }
      }
      await mail.send({ topic, event: event.id, recipients, content })
      return { request, isDelivered: true }
    })
  }

  async function sendHttp(
    outgoing: HttpDelivery,
    target: Target,
    { event, mask, signal }: { event: HookPayload; mask: Mask; signal: AbortSignal | undefined },
  ): Promise<Partial<Attempt>> {
    const { method, url, body } = outgoing
    const headers = target.channel.isSigned
      ? [...outgoing.headers, ...signature(target.secret, event.id, body ?? '')]
      : outgoing.headers
    const request = loggedRequest({ ...outgoing, headers }, mask)
    try {
      const limits = { maxBytes: LOGGED_RESPONSE, timeoutMs: TIMEOUT_MS }
      const reply = await http.send(url, { method, headers, body, ...limits, signal })
      const { status } = reply
      const problem = outgoing.problemOf?.(reply) ?? null
      const isDelivered = outgoing.problemOf ? problem === null : status >= 200 && status < 300
      const code = status >= 400 && status < 500 ? 'ERR_BAD_REQUEST' : 'ERR_BAD_RESPONSE'
      return {
        request,
        response: loggedResponse(reply, mask),
        isDelivered,
        isFinal: status === GONE,
        retryAfterMs: retryAfter(reply.headers.get('retry-after')),
        error: isDelivered
          ? null
          : { code, message: mask(problem ?? m.hooks_error_status({ status })).slice(0, MAX_ERROR) },
      }
    } catch (error) {
      if (!(error instanceof HttpFailure)) throw error
      const message = mask(error.message).slice(0, MAX_ERROR)
      return {
        request,
        isFinal: FINAL.has(error.reason),
        error: { code: FAILURE_CODES[error.reason], message },
      }
    }
  }

  return {
    /**
     * Tries to deliver an event once: to one receiver, or to all of several that do not have it yet.
     *
     * @param signal aborts the try
     * @param receivedBy of an earlier try
     */
    async send(
      target: Target,
      event: HookPayload,
      { signal, receivedBy }: { signal?: AbortSignal; receivedBy?: readonly string[] | null } = {},
    ): Promise<Attempt> {
      const { channel, payload } = target
      const several = channel.receivers?.(payload)
      if (!several) return sendTo(target, event, signal)
      const missing = several.filter(({ key }) => !receivedBy?.includes(key))
      const attempts = await Promise.all(
        missing.map((receiver) => sendTo({ ...target, payload: receiver.payload }, event, signal)),
      )
      return together(
        attempts,
        several.filter((receiver) => {
          const at = missing.indexOf(receiver)
          return at < 0 || attempts[at]!.isDelivered
        }),
      )
    },
  }

  async function sendTo(
    target: Target,
    event: HookPayload,
    signal: AbortSignal | undefined,
  ): Promise<Attempt> {
    const startedAt = performance.now()
    const outcome = await attempt().catch((error: unknown): Partial<Attempt> => {
      // What a template makes of the event does not change with another try.
      if (!(error instanceof RenderError || error instanceof AppError)) throw error
      const isFinal = error instanceof RenderError
      const code = isFinal ? 'ERR_TEMPLATE' : 'ERR_CHANNEL'
      return { isFinal, error: { code, message: error.message.slice(0, MAX_ERROR) } }
    })
    return { ...UNSENT, ...outcome, durationMs: Math.round(performance.now() - startedAt) }

    async function attempt(): Promise<Partial<Attempt>> {
      const render = rendererOf(target, event)
      const outgoing = target.channel.compose(target.payload, render, services)
      const mask = maskerOf(target, render, outgoing.kind === 'http' ? (outgoing.secrets ?? []) : [])
      return outgoing.kind === 'mail'
        ? sendMail(outgoing, target, { event, mask })
        : sendHttp(outgoing, target, { event, mask, signal })
    }
  }
}

/**
 * The outcome of a try with several receivers: delivered once all have the event, final once no other try would reach one
 * more. The log shows the first failure, or else the last call.
 */
function together(attempts: readonly Attempt[], received: readonly { key: string }[]): Attempt {
  const failed = attempts.filter(({ isDelivered }) => !isDelivered)
  const waits = failed.flatMap(({ retryAfterMs }) => retryAfterMs ?? [])
  return {
    ...(failed[0] ?? attempts.at(-1) ?? UNSENT),
    isDelivered: failed.length === 0,
    isFinal: failed.length > 0 && failed.every(({ isFinal }) => isFinal),
    retryAfterMs: waits.length > 0 ? Math.max(...waits) : null,
    durationMs: Math.max(0, ...attempts.map(({ durationMs }) => durationMs)),
    receivedBy: received.map(({ key }) => key),
  }
}

const UNSENT: Attempt = {
  isDelivered: false,
  isFinal: false,
  isHeld: false,
  retryAfterMs: null,
  receivedBy: null,
  error: null,
  durationMs: 0,
  request: null,
  response: null,
}

export type Sender = ReturnType<typeof createSender>

/** Templates see the event under both names (wire §11). */
function rendererOf({ templates }: Target, event: HookPayload): Render {
  const data = { event, data: event }
  return (text, kind) => {
    const key = `${kind} ${text}`
    let template = templates.get(key)
    if (!template) {
      const parsed = parseTemplate(text, kind)
      if (isProblem(parsed)) throw new RenderError(parsed.message)
      template = parsed
      templates.set(key, template)
    }
    return renderTemplate(template, data)
  }
}

/** Replaces secrets in texts of the log. */
type Mask = (text: string) => string

function maskerOf({ channel, payload }: Target, render: Render, more: readonly string[]): Mask {
  const secrets = [...channel.secrets(payload), ...more]
    .flatMap((secret) => (secret.includes('{{') ? [secret, render(secret, 'header')] : [secret]))
    .flatMap((secret) => [
      secret,
      encodeURIComponent(secret.toWellFormed()),
      JSON.stringify(secret).slice(1, -1),
    ])
    .filter((secret) => secret.trim().length > 0)
    .toSorted((a, b) => b.length - a.length)
  return (text) => secrets.reduce((masked, secret) => masked.replaceAll(secret, MASK), text)
}

/** Neither engine stores null characters in JSON. */
const cut = (text: string, max: number): string =>
  text.slice(0, max).replaceAll('\u0000', '\ufffd').toWellFormed()

const loggedHeaders = (headers: Iterable<readonly [string, string]>, mask: Mask): [string, string][] =>
  [...headers]
    .slice(0, LOGGED_HEADERS)
    .map(([name, value]) => [cut(name, 256), cut(mask(value), LOGGED_HEADER)])

const loggedRequest = ({ method, url, headers, body }: HttpDelivery, mask: Mask): SentRequest => ({
  method,
  url: cut(mask(url), 4_000),
  headers: loggedHeaders(headers, mask),
  body: body === null ? null : cut(mask(body), LOGGED_REQUEST),
})

const loggedMail = ({ recipients, subject, body }: MailDelivery, mask: Mask): SentRequest => ({
  method: 'MAIL',
  url: cut(`mailto:${recipients.join(',')}`, 4_000),
  headers: loggedHeaders([['Subject', subject]], mask),
  body: cut(mask(body), LOGGED_REQUEST),
})

const loggedResponse = (
  {
    status,
    statusText,
    headers,
    body,
  }: { status: number; statusText: string; headers: Headers; body: string },
  mask: Mask,
): ReceivedResponse => ({
  status,
  statusText: cut(statusText, 200),
  headers: loggedHeaders(headers.entries(), mask),
  body: cut(mask(body), LOGGED_RESPONSE),
})

/** The headers of Standard Webhooks: an HMAC-SHA256 of id, time of the try and body. */
function signature(secret: string, id: string, body: string): [string, string][] {
  const timestamp = String(Math.floor(nowMs() / 1000))
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const hmac = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return [
    ['webhook-id', id],
    ['webhook-timestamp', timestamp],
    ['webhook-signature', `v1,${hmac}`],
  ]
}

/** Seconds, or a date (RFC 9110 §10.2.3). */
function retryAfter(header: string | null): number | null {
  if (header === null) return null
  const ms = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - Date.now()
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS) : null
}
