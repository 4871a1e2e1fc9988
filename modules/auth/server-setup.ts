import { eq } from 'drizzle-orm'
import type { Actor } from '../../src/core/actor.ts'
import { badRequest } from '../../src/core/errors.ts'
import { createId } from '../../src/core/ids.ts'
import type { Kernel } from '../../src/kernel.ts'
import { m } from '../../src/messages.gen.ts'
import { type Access, requireUser } from './access.ts'
import { defineAuthTables } from './tables.ts'
import { createHourlyLimit } from './throttle.ts'

/** The server's setup by environment variables, without passwords and keys. */
export interface ServerSetup {
  /** Base address of links; null: taken from each request. */
  publicUrl: string | null
  /** Null if no mail server is configured. */
  mail: {
    host: string
    port: number
    from: string
    username: string | null
    encryption: 'tls' | 'starttls' | 'none'
  } | null
  /** Store of attachments. */
  files: { kind: 'folder' } | { kind: 's3'; bucket: string; region: string | null; endpoint: string | null }
  database: 'sqlite' | 'postgres'
}

const MAX_TESTS_PER_HOUR = 20

/** Shows super admins the server's setup and sends test mails. */
export function createServerSetup(
  { config, mail, events }: Pick<Kernel, 'config' | 'mail' | 'events'>,
  access: Access,
) {
  const { smtpHost, smtpFrom, s3Bucket } = config
  const tests = createHourlyLimit(
    { events, name: 'test mails' },
    MAX_TESTS_PER_HOUR,
    m.auth_error_too_many_test_mails,
  )
  return {
    async get(actor: Actor): Promise<ServerSetup> {
      await access.authorize(actor, 'settings.read')
      return {
        publicUrl: config.publicUrl,
        mail:
          mail.isConfigured && smtpHost !== null && smtpFrom !== null
            ? {
                host: smtpHost,
                port: config.smtpPort,
                from: smtpFrom,
                username: config.smtpUsername,
                encryption: config.smtpSecure ? 'tls' : config.smtpIgnoreTls ? 'none' : 'starttls',
              }
            : null,
        files:
          s3Bucket === null
            ? { kind: 'folder' }
            : { kind: 's3', bucket: s3Bucket, region: config.s3Region, endpoint: config.s3Endpoint },
        database: config.databaseUrl === null ? 'sqlite' : 'postgres',
      }
    },

    /**
     * Mails the caller and waits for the mail server.
     * @returns the address, and the mail server's error or null
     * @throws FORBIDDEN below super admin; BAD_REQUEST without a mail server; TOO_MANY_REQUESTS
     */
    async sendTestMail(actor: Actor): Promise<{ recipient: string; problem: string | null }> {
      await access.authorize(actor, 'settings.update')
      if (!mail.isConfigured) throw badRequest(m.auth_error_no_mail_server())
      const { id, email } = requireUser(actor)
      tests.take(id, '')
      const problem = await mail.sendNow(createId('mail'), email, {
        subject: m.mail_test_subject(),
        blocks: [
          { kind: 'text', text: m.mail_test_text() },
          { kind: 'link', label: m.mail_test_link(), url: mail.addressOf('/') },
        ],
      })
      return { recipient: email, problem }
    },
  }
}

export type Settings = ReturnType<typeof createSettings>

/** Server settings of super admins, stored as sent (wire §4.3). */
export function createSettings({ meta, config }: Pick<Kernel, 'meta' | 'config'>, access: Access) {
  const { settings } = meta.tables(defineAuthTables)
  const app = stored('app')

  function stored(key: 'app' | 'license') {
    async function read(): Promise<Record<string, unknown>> {
      const [row] = await meta.db.select().from(settings).where(eq(settings.key, key))
      return typeof row?.value === 'object' && row.value !== null ? { ...row.value } : {}
    }
    return {
      read,

      async get(actor: Actor): Promise<Record<string, unknown>> {
        await access.authorize(actor, 'settings.read')
        return read()
      },

      async save(actor: Actor, value: Record<string, unknown>): Promise<void> {
        await access.authorize(actor, 'settings.update')
        await meta.db
          .insert(settings)
          .values({ key, value })
          .onConflictDoUpdate({ target: settings.key, set: { value } })
      },
    }
  }

  return {
    get: app.get,
    save: app.save,

    /** A licence key that clients store. It unlocks nothing. */
    license: stored('license'),

    /** True if sign-up needs an invitation, by environment variable or setting. */
    async isInviteOnly(): Promise<boolean> {
      return config.inviteOnlySignup || (await app.read()).invite_only_signup === true
    },
  }
}
