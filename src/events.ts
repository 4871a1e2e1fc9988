import type { AppliedChange } from './core/changes.ts'
import type { RecordId } from './core/model.ts'
import type { Work } from './core/work.ts'
import type { Job } from './jobs.ts'

/** Events between modules, with their payloads. */
export interface EventMap {
  /** Emitted after the transaction of a record write is committed. */
  'records.changed': AppliedChange
  /** A table, field or view was created, altered or removed; `tableId` is null if the list of tables changed. */
  'schema.changed': { baseId: string; tableId: string | null; version: number }
  'job.changed': Job
  /** Progress or end of a change of whole tables. */
  'work.changed': Work
  /** A user's account, roles or memberships changed: their caches and connections are invalid. */
  'access.changed': { userId: string }
  'base.deleted': { baseId: string }
  /** A public link was closed or changed: its caches and connections are invalid. */
  'share.changed': { shareId: string }
  /** A shared form was answered. The record is written and announced separately. */
  'form.answered': { baseId: string; tableId: string; viewId: string; shareId: string; recordId: RecordId }
}

type Listener<K extends keyof EventMap> = (payload: EventMap[K]) => void

export interface Events {
  emit<K extends keyof EventMap>(name: K, payload: EventMap[K]): void
  /** Adds a listener; returns a function that removes it. */
  on<K extends keyof EventMap>(name: K, listener: Listener<K>): () => void
}

/** In-process events. An error of a listener goes to `onError` and does not affect the others. */
export function createEvents(onError: (error: unknown, name: keyof EventMap) => void): Events {
  const listeners = new Map<keyof EventMap, Set<Listener<never>>>()
  return {
    emit(name, payload) {
      for (const listener of listeners.get(name) ?? []) {
        try {
          ;(listener as Listener<typeof name>)(payload)
        } catch (error) {
          onError(error, name)
        }
      }
    },
    on(name, listener) {
      const set = listeners.get(name) ?? new Set()
      listeners.set(name, set.add(listener as Listener<never>))
      return () => set.delete(listener as Listener<never>)
    },
  }
}
