import { eq } from 'drizzle-orm'
import type { Actor } from '../../src/core/actor.ts'
import type { Kernel } from '../../src/kernel.ts'
import type { Access } from './access.ts'
import { defineAuthTables } from './tables.ts'

const KEY = 'app'

export type Settings = ReturnType<typeof createSettings>

/** What super admins set for the whole server, as the object that they sent (wire §4.3). */
export function createSettings({ meta, config }: Pick<Kernel, 'meta' | 'config'>, access: Access) {
  const { settings } = meta.tables(defineAuthTables)

  async function read(): Promise<Record<string, unknown>> {
    const [row] = await meta.db.select().from(settings).where(eq(settings.key, KEY))
    return typeof row?.value === 'object' && row.value !== null ? { ...row.value } : {}
  }

  return {
    async get(actor: Actor): Promise<Record<string, unknown>> {
      await access.authorize(actor, 'settings.read')
      return read()
    },

    /** Replaces the stored object. */
    async save(actor: Actor, value: Record<string, unknown>): Promise<void> {
      await access.authorize(actor, 'settings.update')
      await meta.db
        .insert(settings)
        .values({ key: KEY, value })
        .onConflictDoUpdate({ target: settings.key, set: { value } })
    },

    /** True where only invited people may sign up: by the environment, or by a super admin. */
    async isInviteOnly(): Promise<boolean> {
      return config.inviteOnlySignup || (await read()).invite_only_signup === true
    },
  }
}
