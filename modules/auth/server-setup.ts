import { eq } from 'drizzle-orm'
import type { Actor } from '../../src/core/actor.ts'
import { badRequest } from '../../src/core/errors.ts'
import { createId } from '../../src/core/ids.ts'
import type { Kernel } from '../../src/kernel.ts'
import { m } from '../../src/messages.gen.ts'
import { type Access, requireUser } from './access.ts'
import { defineAuthTables } from './tables.ts'
import { createHourlyLimit } from './throttle.ts'

/** What the environment sets up for the whole server. No password and no key is in it. */
export interface ServerSetup {
  /** The address in links, null where it is taken from each request. */
  publicUrl: string | null
  /** Null where no mail is sent. */
  mail: {
    host: string
    port: number
    from: string
    username: string | null
    encryption: 'tls' | 'starttls' | 'none'
  } | null
  /** Where attached files are kept. */
  files: { kind: 'folder' } | { kind: 's3'; bucket: string; region: string | null; endpoint: string | null }
  /** Where accounts, bases and records are kept. */
  database: 'sqlite' | 'postgres'
}

/** Test mails that one administrator may send within an hour. */
const MAX_TESTS_PER_HOUR = 20

/** Shows administrators how the server is set up, and lets them try out the mail server. */
export function createServerSetup({ config, mail }: Pick<Kernel, 'config' | 'mail'>, access: Access) {
  const { smtpHost, smtpFrom, s3Bucket } = config
  const tests = createHourlyLimit(MAX_TESTS_PER_HOUR, 'test mails')
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
     * Sends a mail to the caller's own address, and waits until the mail server has taken it.
     * @returns the address, and why the mail server did not take it, or null where it did
     * @throws FORBIDDEN below super admin, BAD_REQUEST where no mail server is configured, TOO_MANY_REQUESTS
     */
    async sendTestMail(actor: Actor): Promise<{ recipient: string; problem: string | null }> {
      await access.authorize(actor, 'settings.update')
      if (!mail.isConfigured) throw badRequest('No mail server is configured. Set SMTP_HOST.')
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

/** What super admins set for the whole server, each as the object that they sent (wire §4.3). */
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

      /** Replaces the stored object. */
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

    /** The key that clients keep with the server. It unlocks nothing: all there is is free. */
    license: stored('license'),

    /** True where only invited people may sign up: by the environment, or by a super admin. */
    async isInviteOnly(): Promise<boolean> {
      return config.inviteOnlySignup || (await app.read()).invite_only_signup === true
    },
  }
}
