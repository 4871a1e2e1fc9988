import { and, eq, inArray, not } from 'drizzle-orm'
import { nowIso } from '../../src/clock.ts'
import type { PluginConfig } from '../../src/core/plugins/index.ts'
import type { MetaStatement } from '../../src/db/meta.ts'
import { createMutex } from '../../src/db/mutex.ts'
import type { Kernel } from '../../src/kernel.ts'
import { seal, unseal } from '../../src/secrets.ts'
import type { S3Settings } from '../../src/storage/index.ts'
import { definePluginsTables } from './tables.ts'

/** A stored plugin. */
export interface StoredPlugin {
  id: string
  isActive: boolean
  /** Null after a reset, and if it was sealed with another key. */
  config: PluginConfig | null
  isUnreadable: boolean
  /** ISO 8601. */
  updatedAt: string
}

/** A bucket with the id by which files refer to it. */
export interface StoredBucket {
  id: string
  settings: S3Settings
}

export type PluginStore = ReturnType<typeof createPluginStore>

const RETRY_MS = 1_000

/**
 * The stored plugins and buckets, in memory: whether mails can be sent is asked without waiting. A change by another
 * server is read before it is acknowledged, and everything is read again after an interruption.
 */
export function createPluginStore({ meta, secrets, log }: Pick<Kernel, 'meta' | 'secrets' | 'log'>) {
  const { plugins, fileBuckets } = meta.tables(definePluginsTables)
  const { db } = meta
  const key = secrets.connections
  const exclusively = createMutex()
  let known: ReadonlyMap<string, StoredPlugin> = new Map()
  let buckets: ReadonlyMap<string, StoredBucket> = new Map()
  let retry: Timer | null = null
  let isClosed = false

  const sealed = (value: unknown): string => seal(key, JSON.stringify(value))

  /** Objects that have not changed stay the same, so that connections made for them do, too. */
  function kept<T extends object>(before: T | undefined, now: T): T {
    return before && JSON.stringify(before) === JSON.stringify(now) ? before : now
  }

  async function read(): Promise<void> {
    const pluginRows = await db.select().from(plugins)
    const bucketRows = await db.select().from(fileBuckets)
    const nextPlugins = pluginRows.map(({ input, id, isActive, updatedAt }): StoredPlugin => {
      const text = input === null ? null : unseal(key, input)
      const config = text === null ? null : (JSON.parse(text) as PluginConfig)
      const isUnreadable = input !== null && text === null
      return kept(known.get(id), {
        id,
        isActive: isActive && config !== null,
        config,
        isUnreadable,
        updatedAt,
      })
    })
    const nextBuckets = bucketRows.flatMap(({ id, settings }): StoredBucket[] => {
      const text = unseal(key, settings)
      if (text === null) log.error('a bucket was sealed with another CONNECTION_SECRET', new Error(id))
      return text === null ? [] : [kept(buckets.get(id), { id, settings: JSON.parse(text) as S3Settings })]
    })
    known = new Map(nextPlugins.map((plugin) => [plugin.id, plugin]))
    buckets = new Map(nextBuckets.map((bucket) => [bucket.id, bucket]))
  }

  /** Reads one after the other, so that an older result never replaces a newer one. */
  const reload = (): Promise<void> => exclusively(read)

  const report = (error: unknown) => log.error('the plugins could not be read', error)

  /** Repeats until the database answers. */
  async function reloadSurely(): Promise<void> {
    try {
      await reload()
    } catch (error) {
      report(error)
      if (isClosed || retry !== null) return
      retry = setTimeout(() => {
        retry = null
        reloadSurely().catch(report)
      }, RETRY_MS)
      retry.unref()
    }
  }

  const stops = [
    meta.cluster.onStale('plugins', reloadSurely),
    meta.cluster.onMissed(() => {
      reloadSurely().catch(report)
    }),
  ]

  return {
    /** Reads everything; before the first use. */
    start: reload,

    find: (id: string): StoredPlugin | null => known.get(id) ?? null,

    bucket: (id: string): StoredBucket | null => buckets.get(id) ?? null,

    /** A bucket that may have been stored by another server a moment ago. */
    async findBucket(id: string): Promise<StoredBucket | null> {
      if (!buckets.has(id)) await reload()
      return buckets.get(id) ?? null
    },

    /**
     * Stores a configuration and activates it, effective on every server when it resolves.
     *
     * @param replaced plugins that are no longer active then
     * @param bucket the bucket that the plugin stands for
     * @param also statements for the end of the transaction
     */
    async activate(
      { id, config, userId }: { id: string; config: PluginConfig; userId: string },
      replaced: readonly string[],
      bucket: StoredBucket | null,
      also: MetaStatement[],
    ): Promise<void> {
      const updatedAt = nowIso()
      const row = { isActive: true, input: sealed(config), updatedBy: userId, updatedAt }
      const others = [...replaced]
      await meta.atomically([
        ...(bucket === null ? [] : [bucketStatement(bucket, updatedAt)]),
        ...(others.length === 0
          ? []
          : [
              db
                .update(plugins)
                .set({ isActive: false })
                .where(and(inArray(plugins.id, others), not(eq(plugins.id, id)))),
            ]),
        db
          .insert(plugins)
          .values({ id, ...row })
          .onConflictDoUpdate({ target: plugins.id, set: row }),
        ...also,
      ])
      await reload()
    },

    /**
     * Deactivates a plugin; `config: null` also removes its configuration.
     * @param also statements for the end of the transaction
     */
    async deactivate(
      id: string,
      userId: string,
      patch: { config: null } | null,
      also: MetaStatement[],
    ): Promise<void> {
      const updatedAt = nowIso()
      await meta.atomically([
        db
          .update(plugins)
          .set({ isActive: false, updatedBy: userId, updatedAt, ...(patch && { input: patch.config }) })
          .where(eq(plugins.id, id)),
        ...also,
      ])
      await reload()
    },

    close(): void {
      isClosed = true
      if (retry !== null) clearTimeout(retry)
      for (const stop of stops) stop()
    },
  }

  function bucketStatement({ id, settings }: StoredBucket, createdAt: string) {
    const text = sealed(settings)
    return db
      .insert(fileBuckets)
      .values({ id, settings: text, createdAt })
      .onConflictDoUpdate({ target: fileBuckets.id, set: { settings: text } })
  }
}
