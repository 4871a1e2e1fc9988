import { eq } from 'drizzle-orm'
import type { Actor } from '../../src/core/actor.ts'
import type { Kernel } from '../../src/kernel.ts'
import type { Access } from './access.ts'
import type { Audits } from './audits.ts'
import { defineAuthTables } from './tables.ts'

/** The server's setup by environment variables, without passwords and keys. */
export interface ServerSetup {
  /** Base address of links; null: taken from each request. */
  publicUrl: string | null
  database: 'sqlite' | 'postgres'
  /** Sign-up needs an invitation, whatever the stored settings say. */
  inviteOnlySignup: boolean
}

/** Shows super admins the server's setup. */
export function createServerSetup({ config }: Pick<Kernel, 'config'>, access: Access) {
  return {
    async get(actor: Actor): Promise<ServerSetup> {
      await access.authorize(actor, 'settings.read')
      return {
        publicUrl: config.publicUrl,
        database: config.databaseUrl === null ? 'sqlite' : 'postgres',
        inviteOnlySignup: config.inviteOnlySignup,
      }
    },
  }
}

export type Settings = ReturnType<typeof createSettings>

/** Server settings of super admins, stored as sent (wire §4.3). */
export function createSettings(
  { meta, config }: Pick<Kernel, 'meta' | 'config'>,
  access: Access,
  audits: Audits,
) {
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
        const detail = { target: key, ...(key === 'app' && { name: describe(value) }) }
        await meta.atomically([
          meta.db
            .insert(settings)
            .values({ key, value })
            .onConflictDoUpdate({ target: settings.key, set: { value } }),
          ...audits.record(actor, { kind: 'settings.update', detail }),
        ])
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

/** Settings for the audit log: `invite_only_signup: true`. */
const describe = (value: Record<string, unknown>): string =>
  Object.entries(value)
    .map(([name, setting]) => `${name}: ${String(setting)}`)
    .join(', ')
