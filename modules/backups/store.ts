import { and, eq, isNull } from 'drizzle-orm'
import { nowIso } from '../../src/clock.ts'
import type { MetaStatement } from '../../src/db/meta.ts'
import type { Kernel } from '../../src/kernel.ts'
import { seal, unseal } from '../../src/secrets.ts'
import type { SettingsInput } from './input.ts'
import { defineBackupsTables } from './tables.ts'

/** Settings with their secrets. */
export type StoredSettings = Required<SettingsInput>

export interface SettingsRow {
  settings: StoredSettings
  updatedBy: string
  updatedAt: string
  lastSlot: string | null
}

const ID = 'settings'

/** The settings of scheduled backups, sealed with the installation's key. */
export function createBackupStore({ meta, secrets, log }: Pick<Kernel, 'meta' | 'secrets' | 'log'>) {
  const { backupSettings } = meta.tables(defineBackupsTables)
  const { db } = meta

  return {
    /** Null before they are set, and if they were sealed with another key. */
    async read(): Promise<SettingsRow | null> {
      const [row] = await db.select().from(backupSettings).where(eq(backupSettings.id, ID))
      if (!row) return null
      const text = unseal(secrets.connections, row.content)
      if (text === null) {
        log.error('the settings of backups were sealed with another CONNECTION_SECRET', new Error(ID))
        return null
      }
      const { updatedBy, updatedAt, lastSlot } = row
      return {
        settings: { withBucketFiles: true, ...JSON.parse(text) } as StoredSettings,
        updatedBy,
        updatedAt,
        lastSlot,
      }
    },
    /** @param also statements for the end of the transaction */
    async save(settings: StoredSettings, userId: string, also: MetaStatement[]): Promise<void> {
      const updatedAt = nowIso()
      const row = {
        content: seal(secrets.connections, JSON.stringify(settings)),
        updatedBy: userId,
        updatedAt,
      }
      await meta.atomically([
        db
          .insert(backupSettings)
          // A time of today that is over is not made up for.
          .values({ id: ID, ...row, lastSlot: updatedAt })
          .onConflictDoUpdate({ target: backupSettings.id, set: { ...row, lastSlot: updatedAt } }),
        ...also,
      ])
    },
    /**
     * True if this server is the one that makes the backup of a scheduled time.
     *
     * @param last the slot that the server has read, which another server may have replaced meanwhile
     */
    async takeSlot(slot: string, last: string | null): Promise<boolean> {
      const isFree = last === null ? isNull(backupSettings.lastSlot) : eq(backupSettings.lastSlot, last)
      const taken = await db
        .update(backupSettings)
        .set({ lastSlot: slot })
        .where(and(eq(backupSettings.id, ID), isFree))
        .returning({ id: backupSettings.id })
      return taken.length > 0
    },
  }
}
