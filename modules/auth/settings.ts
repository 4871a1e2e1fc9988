import { eq } from 'drizzle-orm'
import type { Actor } from '../../src/core/actor.ts'
import type { Kernel } from '../../src/kernel.ts'
import type { Access } from './access.ts'
import { defineAuthTables } from './tables.ts'

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
