import { eq } from 'drizzle-orm'
import { nowIso, nowMs } from '../../../src/clock.ts'
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
  { hooks }: Pick<HookStore, 'hooks'>,
) {
  /**
   * A notice for everyone who may change webhooks of the base; a failure that goes on is told once.
   *
   * @param since distinguishes it from earlier failures
   */
  async function tell(
    { id, baseId, title }: HookRow,
    error: string | null,
    { isPaused, since }: { isPaused: boolean; since: string },
  ): Promise<PreparedNotices> {
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

  const failingSince = (hook: HookRow): string => new Date(hook.failingSince ?? nowMs()).toISOString()

  return {
    /** A delivery was given up. */
    gaveUp: (hook: HookRow, error: string | null): Promise<PreparedNotices> =>
      tell(hook, error, { isPaused: false, since: failingSince(hook) }),

    /** A mail was given up that has found no room. Told once a day, since others are sent in between. */
    foundNoRoom: (hook: HookRow, error: string | null): Promise<PreparedNotices> =>
      tell(hook, error, { isPaused: false, since: `no room ${nowIso().slice(0, 10)}` }),

    /** Notices of a pause that is written by another statement of the transaction. */
    paused: (hook: HookRow, { detail }: HookPause): Promise<PreparedNotices> =>
      tell(hook, detail, { isPaused: true, since: failingSince(hook) }),

    /** Stops calling a webhook. What changes from now on is delivered when it goes on. */
    async pause(hook: HookRow, pause: HookPause): Promise<PreparedNotices> {
      const { statements, stored } = await this.paused(hook, pause)
      const { id: hookId, baseId, tableId } = hook
      return {
        statements: [meta.db.update(hooks).set({ pause }).where(eq(hooks.id, hookId)), ...statements],
        stored() {
          events.emit('hook.changed', { hookId, baseId, tableId })
          stored()
        },
      }
    },
  }
}

export type Failures = ReturnType<typeof createFailures>
