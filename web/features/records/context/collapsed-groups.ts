import type { Sort } from '../../../../src/core/model.ts'
import type { Search } from '../../../../src/core/query.ts'
import type { GroupNode } from '../../../grid/groups/tree.ts'
import { type CollapsedGroups, NONE_COLLAPSED, withCollapsed } from '../../../grid/groups/tree.ts'
import { createStore } from '../../../grid/store.ts'
import type { GroupedLayout } from '../../../records/layouts/groups.ts'
import { session } from '../../../session/index.ts'
import { localSettings, readJsonSetting, type SettingName } from '../../../session/local-settings.ts'

/** Maximum number of remembered collapsed groups. */
const MAX_REMEMBERED = 2_000

/** Stored state of a view's groups; valid only for the fields that it was grouped by. */
interface Kept {
  by: string
  all: boolean
  except: string[]
}

/**
 * The collapsed groups of a view. Collapsing is remembered in this browser; groups that a search expands stay expanded
 * for the visit. A filtering search has separate group state, initially all expanded.
 */
export interface RememberedGroups {
  get(): CollapsedGroups
  subscribe(onChange: () => void): () => void
  /** Sets the current grouping. After a change of fields, all groups are expanded. */
  follow(levels: readonly Sort[]): void
  /** The user collapsed or expanded groups. */
  change(change: (now: CollapsedGroups) => CollapsedGroups): void
  /** Expands groups for this visit to show a record inside them. */
  reveal(groups: readonly GroupNode['keys'][]): void
}

/** @param searched the search of the displayed groups; null without a search */
export function rememberedGroups(viewId: string, searched: () => Search | null): RememberedGroups {
  const name: SettingName = `groups.${session.userId() ?? 'guest'}.${viewId}`
  /** State stored in this browser. */
  let kept = NONE_COLLAPSED
  const shown = createStore<CollapsedGroups>(NONE_COLLAPSED)
  /** State of a filtering search; null otherwise. */
  const found = createStore<{ search: Search; groups: CollapsedGroups } | null>(null)
  let by = ''

  const groupsFound = (search: Search) => {
    const now = found.get()
    return now?.search === search ? now.groups : NONE_COLLAPSED
  }

  function show(change: (now: CollapsedGroups) => CollapsedGroups): void {
    const search = searched()
    if (search) found.set({ search, groups: change(groupsFound(search)) })
    else shown.set(change(shown.get()))
  }

  function keep(next: CollapsedGroups): void {
    kept = next
    const except = [...next.except].slice(0, MAX_REMEMBERED)
    if (!next.all && except.length === 0) localSettings.remove(name)
    else localSettings.set(name, JSON.stringify({ by, all: next.all, except } satisfies Kept))
  }

  return {
    get() {
      const search = searched()
      return search ? groupsFound(search) : shown.get()
    },
    subscribe(onChange) {
      const stops = [shown.subscribe(onChange), found.subscribe(onChange)]
      return () => {
        for (const stop of stops) stop()
      }
    },
    follow(levels) {
      const now = levels.map(({ fieldId }) => fieldId).join()
      if (now === by || now === '') return
      by = now
      const read = readJsonSetting<Kept | null>(name, null, isKept)
      kept = read?.by === by ? { all: read.all, except: new Set(read.except) } : NONE_COLLAPSED
      shown.set(kept)
    },
    change(change) {
      if (searched() === null) keep(change(kept))
      show(change)
    },
    reveal(groups) {
      show((now) => groups.reduce((all, keys) => withCollapsed(all, keys, false), now))
    },
  }
}

function isKept(value: unknown): value is Kept | null {
  if (value === null) return true
  if (typeof value !== 'object' || !('by' in value) || !('all' in value) || !('except' in value)) return false
  return typeof value.by === 'string' && typeof value.all === 'boolean' && Array.isArray(value.except)
}

/** The groups of a grid: the positions of their records, and which are collapsed. */
export interface ViewGroups {
  layout: GroupedLayout
  remembered: RememberedGroups
}
