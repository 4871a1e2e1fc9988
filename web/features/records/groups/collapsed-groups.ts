import type { Sort } from '../../../../src/core/model.ts'
import { type CollapsedGroups, NONE_COLLAPSED } from '../../../grid/groups/collapsed.ts'
import { createStore, type Store } from '../../../grid/store.ts'
import { session } from '../../../session/index.ts'
import { localSettings, readJsonSetting, type SettingName } from '../../../session/local-settings.ts'

/** Most closed groups that are remembered by name; of more the first. */
const MAX_REMEMBERED = 2_000

/** What is kept of a view: closed groups mean something only for the fields that it was grouped by. */
interface Kept {
  by: string
  all: boolean
  except: string[]
}

/** Which groups of a view this person has closed, in this browser. */
export interface RememberedGroups {
  groups: Store<CollapsedGroups>
  /** Says by which fields the view is grouped now; other fields begin with all groups open. */
  follow(levels: readonly Sort[]): void
  set(groups: CollapsedGroups): void
}

/** What this person has closed in a view, remembered for the next visit. */
export function rememberedGroups(viewId: string): RememberedGroups {
  const name: SettingName = `groups.${session.userId() ?? 'guest'}.${viewId}`
  const groups = createStore<CollapsedGroups>(NONE_COLLAPSED)
  let by = ''
  return {
    groups,
    follow(levels) {
      const now = levels.map(({ fieldId }) => fieldId).join()
      if (now === by || now === '') return
      by = now
      const kept = readJsonSetting<Kept | null>(name, null, isKept)
      groups.set(kept?.by === by ? { all: kept.all, except: new Set(kept.except) } : NONE_COLLAPSED)
    },
    set(next) {
      groups.set(next)
      const except = [...next.except].slice(0, MAX_REMEMBERED)
      if (!next.all && except.length === 0) localSettings.remove(name)
      else localSettings.set(name, JSON.stringify({ by, all: next.all, except } satisfies Kept))
    },
  }
}

function isKept(value: unknown): value is Kept | null {
  if (value === null) return true
  if (typeof value !== 'object' || !('by' in value) || !('all' in value) || !('except' in value)) return false
  return typeof value.by === 'string' && typeof value.all === 'boolean' && Array.isArray(value.except)
}
