import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Actor } from '../../src/core/actor.ts'
import { AppError, badRequest } from '../../src/core/errors.ts'
import { createId, randomText } from '../../src/core/ids.ts'
import type {
  ChatPluginId,
  EmailPluginId,
  PluginCategory,
  PluginConfig,
  PluginDefinition,
  PluginValues,
  StoragePluginId,
} from '../../src/core/plugins/index.ts'
import { createHttpClient } from '../../src/http.ts'
import type { Kernel } from '../../src/kernel.ts'
import { mailSettingsOf } from '../../src/mail/plugin-settings.ts'
import { verifySmtp } from '../../src/mail/smtp-channel.ts'
import type { MailSettings } from '../../src/mail/smtp-settings.ts'
import { m } from '../../src/messages.gen.ts'
import { createS3Store, type FileStore, openOwnStore } from '../../src/storage/index.ts'
import { requireUser } from '../auth/index.ts'
import { bucketOf } from './buckets.ts'
import { CHAT_SERVICES } from './chat/index.ts'

const MAX_REPLY_BYTES = 16 * 1024
const SEND_TIMEOUT_MS = 20_000
/** Time for writing, reading and deleting an object. */
const STORE_TIMEOUT_MS = 20_000
const MAX_PROBLEM = 500

/** The outcome of a test. */
export interface TestResult {
  /** Why it failed, in the words of the server and without secrets; null if it succeeded. */
  problem: string | null
  /** The address that was mailed; null for other tests. */
  recipient: string | null
}

/** Tries the configurations of a category on the servers that they name. */
interface Probe {
  /** Whether a configuration can be stored: resolves to the reason why not, or null. Shows nothing to anybody. */
  check(definition: PluginDefinition, values: PluginConfig): Promise<string | null>
  /**
   * Mails the caller, uses the bucket, or posts to each channel until one fails.
   * @param to a telephone number, for services without channels
   */
  run(
    actor: Actor,
    definition: PluginDefinition,
    values: PluginConfig,
    to: string | undefined,
  ): Promise<TestResult>
  /** The same with what the environment sets. @throws BAD_REQUEST if it sets nothing */
  runEnvironment(actor: Actor): Promise<TestResult>
}

/** The tests of each category. */
export function createProbes({
  config,
  mail,
}: Pick<Kernel, 'config' | 'mail'>): Record<PluginCategory, Probe> {
  const http = createHttpClient(config)

  const settingsOf = ({ id }: PluginDefinition, values: PluginConfig): MailSettings =>
    mailSettingsOf(id as EmailPluginId, values as PluginValues, config.publicUrl)

  /** Mails the caller. Without settings, through those in use. */
  async function sendMail(
    actor: Actor,
    settings: MailSettings | undefined,
    url: string,
  ): Promise<TestResult> {
    const { email: recipient } = requireUser(actor)
    const blocks = [
      { kind: 'text' as const, text: m.mail_test_text() },
      { kind: 'link' as const, label: m.mail_test_link(), url },
    ]
    const content = { subject: m.mail_test_subject(), blocks }
    const problem = await mail.sendNow(createId('mail'), recipient, content, settings)
    return { problem, recipient }
  }

  /** Writes, reads and deletes an object. */
  async function tryStore(files: FileStore, secrets: readonly string[]): Promise<string | null> {
    const key = `sheaf-test/${randomText(24)}.txt`
    const draft = join(tmpdir(), `sheaf-test-${randomText(24)}`)
    const content = `Sheaf ${randomText(24)}`
    async function work(): Promise<string | null> {
      await writeFile(draft, content, { mode: 0o600 })
      await files.keep(key, draft, 'text/plain')
      const found = await files.find(key)
      const read = found && new TextDecoder().decode(await found.bytes())
      await files.remove(key)
      return read === content ? null : m.plugins_error_other_content()
    }
    const late = Promise.withResolvers<string>()
    const timer = setTimeout(() => late.resolve(m.plugins_error_timeout()), STORE_TIMEOUT_MS)
    try {
      return await Promise.race([work(), late.promise])
    } catch (error) {
      return describe(error, secrets)
    } finally {
      clearTimeout(timer)
      await rm(draft, { force: true })
    }
  }

  /** Posts a test message to one channel or number. */
  async function post(
    id: ChatPluginId,
    values: PluginValues,
    to: string | undefined,
  ): Promise<string | null> {
    try {
      const message = { text: m.plugins_test_message(), to }
      const { url, headers, body } = CHAT_SERVICES[id].request(values, message, config)
      const limits = { maxBytes: MAX_REPLY_BYTES, timeoutMs: SEND_TIMEOUT_MS }
      const reply = await http.send(url, { method: 'POST', headers, body, ...limits })
      return CHAT_SERVICES[id].problemOf(reply)
    } catch (error) {
      if (error instanceof AppError) return error.message
      throw error
    }
  }

  const tryBucket = (definition: PluginDefinition, values: PluginConfig) =>
    tryStore(
      createS3Store(bucketOf(definition.id as StoragePluginId, values as PluginValues).settings),
      secretsIn(definition, values),
    )

  const notMailed = (problem: string | null): TestResult => ({ problem, recipient: null })

  return {
    email: {
      check: (definition, values) =>
        verifySmtp(settingsOf(definition, values)).then(
          () => null,
          (error) => describe(error, secretsIn(definition, values)),
        ),
      run(actor, definition, values) {
        const settings = settingsOf(definition, values)
        return sendMail(actor, settings, `${settings.publicUrl}/dashboard/#/`)
      },
      runEnvironment: (actor) => sendMail(actor, undefined, mail.addressOf('/')),
    },

    storage: {
      check: tryBucket,
      run: async (_actor, definition, values) => notMailed(await tryBucket(definition, values)),
      runEnvironment: async () =>
        notMailed(await tryStore(openOwnStore(config), [config.s3SecretAccessKey ?? ''])),
    },

    chat: {
      // Would post a message.
      check: async () => null,
      async run(_actor, { id }, values, to) {
        for (const channel of Array.isArray(values) ? values : [values]) {
          const reason = await post(id as ChatPluginId, channel, to)
          if (reason === null) continue
          const name = channel.channel
          return notMailed(
            name === undefined ? reason : m.plugins_error_channel({ channel: String(name), reason }),
          )
        }
        return notMailed(null)
      },
      async runEnvironment() {
        throw badRequest(m.plugins_error_not_in_environment())
      },
    },
  }
}

const secretsIn = ({ inputs }: PluginDefinition, values: PluginConfig): string[] =>
  (Array.isArray(values) ? values : [values]).flatMap((item) =>
    inputs.flatMap(({ key, kind }) =>
      kind === 'secret' && item[key] !== undefined ? [String(item[key])] : [],
    ),
  )

/** An error on one line with its code. Some servers repeat a password in their answers. */
function describe(error: unknown, secrets: readonly string[]): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const told = error instanceof Error ? error.message : String(error)
  let text = code === '' || told.includes(code) ? told : `${told} (${code})`
  for (const secret of secrets) if (secret !== '') text = text.replaceAll(secret, '…')
  return text
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_PROBLEM)
}
