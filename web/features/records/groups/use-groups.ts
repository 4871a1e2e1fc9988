import { ChevronsDownUp, ChevronsUpDown } from 'lucide-react'
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { useScreenActions } from '../../../actions/index.ts'
import { messageOf } from '../../../errors.ts'
import type { GridGroups } from '../../../grid/contract.ts'
import {
  ALL_COLLAPSED,
  isCollapsed,
  NONE_COLLAPSED,
  pathTo,
  withCollapsed,
} from '../../../grid/groups/tree.ts'
import { m } from '../../../messages.gen.ts'
import { loadPart } from '../../../navigation/lazy-screen.ts'
import { groupsApi } from '../../../records/api.ts'
import { createGroupedLayout } from '../../../records/layouts/groups.ts'
import type { RecordStore } from '../../../records/record-store.ts'
import type { StoreQuery } from '../../../records/types.ts'
import { useOnChange } from '../../../ui/effects.ts'
import { toast } from '../../../ui/toast.ts'
import { type RememberedGroups, rememberedGroups, type ViewGroups } from '../context/collapsed-groups.ts'
import { summaryText } from '../context/summary-text.ts'
import type { GetContext } from '../context/table-context.ts'
import { offerRecordIn } from './group-values.ts'

/** The groups of a mounted view. */
export function useViewGroups(viewId: string): ViewGroups {
  const [groups] = useState<ViewGroups>(() => {
    const layout = createGroupedLayout(groupsApi, (error) => toast.error({ text: messageOf(error) }))
    return { layout, remembered: rememberedGroups(viewId, () => layout.tree.get()?.search ?? null) }
  })
  useEffect(() => groups.layout.stop, [groups])
  return groups
}

/** The groups as the grid draws them; null for an ungrouped view. */
export function useGridGroups(
  { layout, remembered }: ViewGroups,
  query: StoreQuery,
  store: RecordStore,
  { get, canAdd }: { get: GetContext; canAdd: boolean },
): GridGroups | null {
  const levels = useSyncExternalStore(layout.tree.subscribe, () => layout.tree.get()?.levels ?? null)
  const { fields, groupSummaries } = query
  useEffect(() => store.onData(layout.refreshSoon), [store, layout])
  const wanted = JSON.stringify(groupSummaries)
  useOnChange([layout, wanted], () => layout.refreshSoon())
  useGroupActions(remembered, levels !== null)
  return useMemo(() => {
    if (!levels) return null
    remembered.follow(levels)
    const named = levels.map(({ fieldId }) => fields.find((field) => field.id === fieldId))
    return {
      get tree() {
        return layout.tree.get() ?? { levels, groups: [], isWhole: true, kinds: {}, search: null }
      },
      get collapsed() {
        return remembered.get()
      },
      subscribe(onChange) {
        const stops = [layout.tree.subscribe(onChange), remembered.subscribe(onChange)]
        return () => {
          for (const stop of stops) stop()
        }
      },
      levels,
      fields: named.filter((field) => field !== undefined),
      toggle(group) {
        const closed = !isCollapsed(remembered.get(), group.keys)
        remembered.change((now) => withCollapsed(now, group.keys, closed))
      },
      open(row) {
        const tree = layout.tree.get()
        if (tree) remembered.reveal(pathTo(tree, row).map(({ node }) => node.keys))
      },
      readMore: layout.readMore,
      openMenu(group, anchor) {
        loadPart(() => import('./group-menu.ts')).then(
          ({ openGroupMenu }) => openGroupMenu(get, group, anchor),
          (error) => toast.error({ text: messageOf(error) }),
        )
      },
      addRow: canAdd ? (group) => offerRecordIn(get(), group) : null,
      summary({ field, summary }, group) {
        const kind = layout.tree.get()?.kinds[field.id]
        if (!summary || kind === undefined || kind !== summary.key) return null
        return summaryText(field, kind, group.summaries[field.id] ?? null)
      },
    }
  }, [levels, fields, layout, remembered, get, canAdd])
}

function useGroupActions({ change }: RememberedGroups, isGrouped: boolean): void {
  useScreenActions([
    {
      id: 'groups.collapse',
      label: () => m.records_collapse_all_groups(),
      group: () => m.common_table(),
      icon: ChevronsDownUp,
      when: () => isGrouped,
      run: () => change(() => ALL_COLLAPSED),
    },
    {
      id: 'groups.expand',
      label: () => m.records_expand_all_groups(),
      group: () => m.common_table(),
      icon: ChevronsUpDown,
      when: () => isGrouped,
      run: () => change(() => NONE_COLLAPSED),
    },
  ])
}
