import { ALONE, type Cluster } from './cluster.ts'
import type { AppliedChange } from './core/changes.ts'
import type { CommentNews } from './core/comments.ts'
import type { HookNews } from './core/hooks.ts'
import type { RecordId } from './core/model.ts'
import type { Presence } from './core/presence.ts'
import type { Work } from './core/work.ts'
import type { RefusedIndexes } from './db/watched-engine.ts'
import type { Job } from './jobs.ts'

/** Events between modules, with their payloads. */
export interface EventMap {
  /** Emitted after the transaction of a record write is committed. */
  'records.changed': AppliedChange
  /** A table, field or view was created, altered or removed; `tableId` is null if the list of tables changed. */
  'schema.changed': { baseId: string; tableId: string | null; version: number }
  'job.changed': Job
  'comment.changed': CommentNews
  /** Something happened to a base, its members or its public links. */
  'base.audited': { baseId: string }
  /** The notifications of a user changed: browsers read them again. */
  'notification.changed': { userId: string }
  /** Progress or end of a change of whole tables. */
  'work.changed': Work
  /** A user's account, roles or memberships changed: their caches and connections are invalid. */
  'access.changed': { userId: string }
  'base.deleted': { baseId: string }
  /** An index of a table was built or dropped: plans that depend on it are stale. */
  'indexes.changed': { tableId: string }
  /** A write has dropped automatic indexes. */
  'indexes.refused': RefusedIndexes
  /** A consumer of the change logs begins or ends to follow a base (`modules/records/feed`). */
  'feed.followed': { baseId: string; consumer: string; isFollowed: boolean }
  /** Somebody waits until the log of a base has been taken; the server that reads it answers then. */
  'feed.asked': { baseId: string; askId: string }
  'feed.answered': { askId: string }
  /** A webhook has deliveries to be sent. */
  'hook.due': HookNews
  /** Deliveries of a webhook were tried. */
  'hook.progressed': HookNews
  /** A webhook was created, changed, paused or removed. */
  'hook.changed': HookNews & { tableId: string }
  /** A public link was closed or changed: its caches and connections are invalid. */
  'share.changed': { shareId: string }
  /** A shared form was answered. The record is written and announced separately. */
  'form.answered': { baseId: string; tableId: string; viewId: string; shareId: string; recordId: RecordId }
  /** An event that a rate limit counts, or one that it no longer counts. */
  'limit.counted': { limit: string; key: string; at: number; isReverted?: boolean }
  /** A server has this number of downloads of a public link under way. */
  'downloads.running': { server: string; shareId: string; count: number }
  /** Someone cancelled a job or a change of whole tables, on whichever server: the one that runs it stops it. */
  'job.cancelled': { jobId: string }
  'work.cancelled': { workId: string }
  /** Connections to a server came, moved or left; see `src/presence.ts`. */
  'presence.moved': { server: string; baseId: string; here: Presence[]; gone: string[] }
  /** A server with connections still runs. */
  'presence.alive': { server: string }
  /** Each server answers with `presence.told`. */
  'presence.asked': { server: string }
  /** All connections to a server; others that are known of it have left. */
  'presence.told': { server: string; bases: { baseId: string; here: Presence[] }[] }
  /** Events of other servers may have been lost: state that was built from events is stale. */
  'events.missed': Record<string, never>
}

/**
 * Whether an event also reaches the other servers. Changes of access do not have to: the rows that they change become
 * stale on every server (`Cluster.onStale`).
 */
const REACHES_ALL: Record<keyof EventMap, boolean> = {
  'records.changed': true,
  'schema.changed': true,
  'comment.changed': true,
  'base.audited': true,
  'notification.changed': true,
  'job.changed': true,
  'work.changed': true,
  'access.changed': false,
  'base.deleted': true,
  'indexes.changed': true,
  'indexes.refused': false,
  'feed.followed': true,
  'feed.asked': true,
  'feed.answered': true,
  'hook.due': true,
  'hook.progressed': true,
  'hook.changed': true,
  'share.changed': false,
  'form.answered': false,
  'limit.counted': true,
  'downloads.running': true,
  'job.cancelled': true,
  'work.cancelled': true,
  'presence.moved': true,
  'presence.alive': true,
  'presence.asked': true,
  'presence.told': true,
  'events.missed': false,
}

type Listener<K extends keyof EventMap> = (payload: EventMap[K]) => void

export interface Events {
  emit<K extends keyof EventMap>(name: K, payload: EventMap[K]): void
  /** Adds a listener; returns a function that removes it. */
  on<K extends keyof EventMap>(name: K, listener: Listener<K>): () => void
}

/**
 * Events of this server, and those of other servers that share its metadata, in the order of each server. Listeners
 * cannot tell them apart and must tolerate an event that repeats what they know. An error of a listener goes to
 * `onError` and does not affect the others.
 */
export function createEvents(
  onError: (error: unknown, name: keyof EventMap) => void,
  cluster: Pick<Cluster, 'publish' | 'onMessage' | 'onMissed'> = ALONE,
): Events {
  const listeners = new Map<keyof EventMap, Set<Listener<never>>>()

  function deliver<K extends keyof EventMap>(name: K, payload: EventMap[K]): void {
    for (const listener of listeners.get(name) ?? []) {
      try {
        ;(listener as Listener<K>)(payload)
      } catch (error) {
        onError(error, name)
      }
    }
  }

  cluster.onMessage((name, payload) => {
    // A later version may send events that this one does not know.
    if (Object.hasOwn(REACHES_ALL, name)) deliver(name as keyof EventMap, payload as never)
  })
  cluster.onMissed(() => deliver('events.missed', {}))

  return {
    emit(name, payload) {
      deliver(name, payload)
      if (REACHES_ALL[name]) cluster.publish(name, payload)
    },
    on(name, listener) {
      const set = listeners.get(name) ?? new Set()
      listeners.set(name, set.add(listener as Listener<never>))
      return () => set.delete(listener as Listener<never>)
    },
  }
}
