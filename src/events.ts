import type { AppliedChange } from './core/changes.ts'
import type { RecordId } from './core/model.ts'
import type { Work } from './core/work.ts'
import type { Job } from './jobs.ts'

/** Events between modules: the name says what happened, the payload to what. */
export interface EventMap {
  /** Records were written, and the transaction is committed. */
  'records.changed': AppliedChange
  /** A table, field or view was made, altered or removed; `tableId` is null where the list itself changed. */
  'schema.changed': { baseId: string; tableId: string | null; version: number }
  'job.changed': Job
  /** A change of whole tables goes on, or has ended. */
  'work.changed': Work
  /** Someone's account, roles or memberships changed: what was cached or connected for them is void. */
  'access.changed': { userId: string }
  'base.deleted': { baseId: string }
  /** A public link was closed or altered: what is known of it, and connected by it, is void. */
  'share.changed': { shareId: string }
  /** A form that is shared was answered. The record has been written, and is announced by itself. */
  'form.answered': { baseId: string; tableId: string; viewId: string; shareId: string; recordId: RecordId }
}

type Listener<K extends keyof EventMap> = (payload: EventMap[K]) => void

export interface Events {
  emit<K extends keyof EventMap>(name: K, payload: EventMap[K]): void
  /** Calls `listener` from now on; what it returns stops that. */
  on<K extends keyof EventMap>(name: K, listener: Listener<K>): () => void
}

/** In-process events. A listener that throws is reported to `onError` and does not stop the others. */
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
