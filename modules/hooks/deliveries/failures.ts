import { eq } from 'drizzle-orm'
import { nowMs } from '../../../src/clock.ts'
import type { HookPause } from '../../../src/core/hooks.ts'
import { holdsBaseRole } from '../../../src/core/roles.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { NOTICES, type PreparedNotices } from '../../../src/notices.ts'
import type { AuthService } from '../../auth/index.ts'
import type { HookRow, HookStore } from '../store.ts'

/**
 * What follows from a failure of a webhook: those who manage its base are notified, and it may be paused. The statements
 * belong into the transaction that stores the failure.
 */
export function createFailures(
  { meta, events, registry }: Pick<Kernel, 'meta' | 'events' | 'registry'>,
  { access }: Pick<AuthService, 'access'>,
  { hooks, unlessChanged }: Pick<HookStore, 'hooks' | 'unlessChanged'>,
) {
  /** A notice for everyone who may change webhooks of the base; a failure that goes on is told once. */
  async function tell(hook: HookRow, error: string | null, isPaused: boolean): Promise<PreparedNotices> {
    const { id, baseId, title, failingSince } = hook
    const since = new Date(failingSince ?? nowMs()).toISOString()
    const managers = (await access.people(baseId)).filter(({ role }) => holdsBaseRole(role, 'creator'))
    return registry.get(NOTICES).prepare(
      managers.map(({ user }) => ({
        kind: 'hookFailing',
        userId: user.id,
        key: `hook ${id} ${since} ${isPaused ? 'paused' : 'failing'}`,
        ref: id,
        actorId: null,
        baseId,
        detail: { hook: { id, title, error, isPaused } },
      })),
    )
  }

  /**
   * Stops calling a webhook. What changes from now on is delivered when it goes on. The transaction violates a not-null
   * constraint if somebody has changed the webhook since it was read, which may have repaired it.
   */
  async function pause(hook: HookRow, because: HookPause): Promise<PreparedNotices> {
    const { statements, stored } = await tell(hook, because.detail, true)
    const { id: hookId, baseId, tableId } = hook
    return {
      statements: [
        meta.db
          .update(hooks)
          .set({ pause: because, ...unlessChanged(hook) })
          .where(eq(hooks.id, hookId)),
        ...statements,
      ],
      stored() {
        events.emit('hook.changed', { hookId, baseId, tableId })
        stored()
      },
    }
  }

  return {
    /** A delivery was given up. */
    gaveUp: (hook: HookRow, error: string | null): Promise<PreparedNotices> => tell(hook, error, false),

    /** Notices of a pause that is written by another statement of the transaction. */
    paused: (hook: HookRow, { detail }: HookPause): Promise<PreparedNotices> => tell(hook, detail, true),

    pause,

    /** As `pause`, in a transaction of its own. False if somebody has changed the webhook since it was read. */
    async pauseNow(hook: HookRow, because: HookPause): Promise<boolean> {
      const { statements, stored } = await pause(hook, because)
      try {
        await meta.atomically(statements)
      } catch (error) {
        if (meta.violation(error)?.kind === 'required') return false
        throw error
      }
      stored()
      return true
    },
  }
}

export type Failures = ReturnType<typeof createFailures>
